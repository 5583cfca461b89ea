// One user's session in VS Code, typed in a real browser. The Go test that runs this starts the editor and checks the
// files that were saved; here is what the user does and sees.

import { command, ghost, openFile, picture, seeGhost, seeLine, session } from './window.mjs';

await session(async (page) => {
  await openFile(page, 'shelf.go');
  await seeLine(page, 'package stock');
  await command(page, 'View: Close Primary Side Bar');
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('func (s *Shelf) Take(name string, n int) bool {', { delay: 30 });
  await page.keyboard.press('Enter');
  await seeGhost(page, 's.mu.Lock()');
  await seeGhost(page, 'return true');
  await picture(page, 'vscode-ghost-text.png');

  await page.keyboard.press('Escape');
  await page.locator('.ghost-text-decoration, .ghost-text').first().waitFor({ state: 'hidden' });
  await page.keyboard.press('Alt+\\'); // VS Code itself has no key for it
  await seeGhost(page, 'return true');

  await page.keyboard.type('s.mu.Lock(', { delay: 60 }); // VS Code closes the bracket
  await page.locator('.view-line', { hasText: 's.mu.Lock()' }).nth(1).waitFor();
  await seeGhost(page, 'defer s.mu.Unlock()'); // behind a line that is as good as finished: one statement
  for (const _ of 'ock(') {
    await page.keyboard.press('Backspace', { delay: 60 });
  }
  await seeGhost(page, 'ock()');
  await page.keyboard.press('Control+ArrowRight'); // the next word
  await page.locator('.view-line', { hasText: 's.mu.Lock' }).nth(1).waitFor();
  await seeGhost(page, 'return true');
  await page.keyboard.press('Tab');
  await page.locator('.view-line', { hasText: 'return true' }).first().waitFor();
  await page.keyboard.press('Control+S');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });

  await command(page, 'quarry: Where Did the Last Ghost Text Come From?');
  await page.locator('.view-line', { hasText: 'The last ghost text' }).first().waitFor();
  await command(page, 'quarry: Turn Ghost Text On or Off');
  await page.locator('.statusbar-item[aria-label*="ghost text is off"]').waitFor();
}, async (page) => `ghost text: ${await ghost(page)}`);
