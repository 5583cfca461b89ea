// A person has a problem explained and fixed, and asks a question, in VS Code in a real browser. TypeScript's own service reports
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

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();

  await choose(page, 'Explain: Property');
  await seeLine(page, 'There is no Counts');
  await picture(page);

  await openFile(page, 'shop.ts');
  await choose(page, 'Fix: Property');
  const preview = page.locator('.refactor-preview-panel, .bulk-edit-panel').first();
  await preview.waitFor();
  await page.locator('.bulk-edit-panel .monaco-list-row input, .bulk-edit-panel .monaco-custom-toggle').first().click();
  await page.locator('.bulk-edit-panel .monaco-button', { hasText: 'Apply' }).first().click();
  await seeLine(page, 'n += item.Count;');
  await page.keyboard.press('Control+S');

  await command(page, 'quarry: Ask…');
  await page.locator('.quick-input-widget input').fill('how are totals made?');
  await page.keyboard.press('Enter');
  await seeLine(page, 'adds every Count');
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
