// A person has a problem explained and fixed, has code simplified, and asks a question, in VS Code in a real browser. TypeScript's own service reports
// the problem; the Go test that runs this checks the file that was saved.

import { command, openFile, picture, seeLine, session } from './window.mjs';

const action = (page, title) => page.locator('.action-widget .monaco-list-row', { hasText: title }).first();

/** Puts the cursor onto the problem and chooses an action there. */
async function choose(page, title) {
  await command(page, 'View: Focus Active Editor Group');
  await command(page, 'Go to Next Problem (Error, Warning, Info)');
  await page.keyboard.press('Escape'); // the problem's text below the line
  for (let tries = 0; ; tries++) {
    await page.keyboard.press('Control+.');
    const row = action(page, title);
    if (await row.waitFor({ timeout: 5_000 }).then(() => true, () => false)) {
      await row.click();
      return;
    }
    if (tries > 10) {
      throw new Error(`no action ${title}`);
    }
    await page.keyboard.press('Escape');
  }
}

/** Ticks the change in the preview of refactorings and presses a button there. */
async function decide(page, button) {
  const preview = page.locator('.bulk-edit-panel');
  await preview.first().waitFor();
  if (button === 'Apply') {
    await preview.locator('.monaco-list-row input, .monaco-custom-toggle').first().click();
  }
  await preview.locator('.monaco-button', { hasText: button }).first().click();
  await preview.first().waitFor({ state: 'hidden' });
}

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();

  await choose(page, 'Explain: Property');
  await seeLine(page, 'There is no Counts');
  await picture(page);

  await openFile(page, 'shop.ts');
  await choose(page, 'Fix: Property');
  await decide(page, 'Discard');
  await seeLine(page, 'n += item.Counts;');
  await choose(page, 'Fix: Property');
  await decide(page, 'Apply');
  await seeLine(page, 'n += item.Count;');

  await command(page, 'View: Focus Active Editor Group');
  await page.keyboard.press('Control+A');
  await command(page, 'quarry: Refactor Selection…');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Simplify' }).first().click();
  await decide(page, 'Apply');
  await seeLine(page, 'let sum = 0;');
  await page.keyboard.press('Control+S');

  await command(page, 'quarry: Ask…');
  await page.locator('.quick-input-widget input').fill('how are totals made?');
  await page.keyboard.press('Enter');
  await seeLine(page, 'adds every Count');
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
