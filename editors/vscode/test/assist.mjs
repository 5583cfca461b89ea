// A user has a problem explained and fixed, has code simplified, and asks a question, in VS Code in a real browser. TypeScript's own service reports
// the problem; the Go test that runs this checks the file that was saved.

import { applyByKey, choose, decide, seeChange } from './change.mjs';
import { command, openFile, picture, seeLine, session } from './window.mjs';

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();

  await choose(page, 'Explain: Property');
  await seeLine(page, 'There is no Counts');
  await picture(page);

  await openFile(page, 'shop.ts');
  await choose(page, 'Fix: Property');
  await seeChange(page);
  const why = await page.locator('.notifications-toasts').textContent();
  for (const part of ['The property is named', 'Confidence: high.', 'Based on shop.ts:1-4.']) {
    if (!why.includes(part)) {
      throw new Error(`no ${JSON.stringify(part)} in ${JSON.stringify(why)}`);
    }
  }
  await decide(page, false);
  await seeLine(page, 'n += item.Counts;');
  await choose(page, 'Fix: Property');
  await applyByKey(page);
  await seeLine(page, 'n += item.Count;');

  await page.locator('.editor-group-container.active .tab.active', { hasText: 'shop.ts' }).first().waitFor(); // the code has the focus
  await page.keyboard.press('Control+A');
  await command(page, 'quarry: Refactor Selection…');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Simplify' }).first().click();
  await decide(page, true);
  await seeLine(page, 'let sum = 0;');
  await page.keyboard.press('Control+S');

  await command(page, 'quarry: Ask…');
  await page.locator('.quick-input-widget input').fill('how are totals made?');
  await page.keyboard.press('Enter');
  await seeLine(page, 'adds every Count');
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
