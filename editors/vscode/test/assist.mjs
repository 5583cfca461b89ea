// A user has a problem explained and fixed, has code simplified, and asks a question, in VS Code in a real browser, by menus and by every key that
// the README has. TypeScript's own service reports the problem; the Go test that runs this checks the file that was saved.

import { applyInTheDiff, choose, chord, decide, decideByKeys, findInTheDiff, goToProblem, readWhy, seeChange } from './change.mjs';
import { command, openFile, picture, seeAnswer, seeLine, session } from './window.mjs';

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();

  await command(page, 'View: Close Primary Side Bar');
  await choose(page, 'Explain: Property');
  await seeAnswer(page, 'Fix: write item.Count.');
  await picture(page, 'vscode-explanation.png');
  await page.locator('.tab', { hasText: 'quarry' }).click({ button: 'middle' });
  await page.locator('.tab', { hasText: 'quarry' }).waitFor({ state: 'hidden' });

  await goToProblem(page);
  await chord(page, 'e');
  const answer = await seeAnswer(page, 'Fix: write item.Count.');
  await page.locator('.editor-group-container.active .tab.active', { hasText: 'shop.ts' }).first().waitFor(); // the code has the focus
  await answer.locator('button.place', { hasText: 'shop.ts:1-4' }).first().click();
  await page.locator('.editor-group-container.active .tab.active', { hasText: 'shop.ts' }).first().waitFor(); // the place has the focus
  await page.locator('.statusbar-item', { hasText: /Ln 1, Col 1$/ }).first().waitFor(); // nothing is selected, so nothing is lost by what is typed there
  const cited = page.locator('.view-overlays .cdr[class*="TextEditorDecorationType"]');
  await cited.nth(3).waitFor({ state: 'attached' }); // all its lines are marked
  await page.keyboard.type('x');
  await seeLine(page, 'xinterface Item {');
  await cited.first().waitFor({ state: 'detached' });
  await page.keyboard.press('Control+Z');

  await openFile(page, 'shop.ts');
  await choose(page, 'Fix: Property');
  await seeChange(page);
  const why = await page.locator('.notifications-toasts').textContent();
  for (const part of ['The property is named', 'Confidence: high.', 'Based on shop.ts:1-4.']) {
    if (!why.includes(part)) {
      throw new Error(`no ${JSON.stringify(part)} in ${JSON.stringify(why)}`);
    }
  }
  await seeLine(page, 'n += item.Count;');
  await page.locator('.statusbar-item', { hasText: 'Change: Alt+Q A applies, Alt+Q D discards' }).first().waitFor(); // all of it is seen
  await picture(page, 'vscode-change.png');
  await decide(page, false);
  await seeLine(page, 'n += item.Counts;');
  await goToProblem(page);
  await chord(page, 'f');
  await decideByKeys(page, 'd');
  await seeLine(page, 'n += item.Counts;');

  await command(page, 'Notifications: Toggle Do Not Disturb Mode');
  await goToProblem(page);
  await chord(page, 'f');
  await seeChange(page);
  const inFull = await readWhy(page);
  for (const part of ['The property is named', 'Confidence: high.', 'Based on shop.ts:1-4.', 'Alt+Q A applies the change']) {
    if (!inFull.includes(part)) {
      throw new Error(`no ${JSON.stringify(part)} in ${JSON.stringify(inFull)}`);
    }
  }
  await picture(page, 'vscode-change-undisturbed.png');
  await decideByKeys(page, 'a');
  await seeLine(page, 'n += item.Count;');
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+Z');
  await seeLine(page, 'n += item.Counts;');
  await command(page, 'Notifications: Toggle Do Not Disturb Mode');

  await goToProblem(page);
  await chord(page, 'f');
  await decideByKeys(page, 'a');
  await seeLine(page, 'n += item.Count;');

  await page.locator('.editor-group-container.active .tab.active', { hasText: 'shop.ts' }).first().waitFor(); // the code has the focus
  await page.keyboard.press('Control+A');
  await chord(page, 'r');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Simplify' }).first().click();
  await findInTheDiff(page, 'Item');
  await applyInTheDiff(page);
  await seeLine(page, 'let sum = 0;');
  await command(page, 'File: Save All');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });

  await page.keyboard.press('Shift+Alt+Q');
  await page.locator('.quick-input-widget input').fill('how are totals made?');
  await page.keyboard.press('Enter');
  await seeAnswer(page, 'adds every Count');
  if ((await page.locator('.tab', { hasText: 'quarry' }).count()) !== 1) {
    throw new Error('explanation and answer do not share a panel');
  }
  await seeLine(page, 'let sum = 0;'); // beside the code

  await chord(page, 'q');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Where did the last ghost text come from?' }).first().waitFor();
  await page.keyboard.press('Escape');

  // The context menu has an entry whose submenu is quarry's, and what is chosen there runs.
  await page.locator('.view-line', { hasText: 'export function total' }).first().click({ button: 'right' });
  await page.locator('.monaco-menu .action-item', { hasText: /^quarry$/ }).first().click();
  const entry = (title) => page.locator('.monaco-submenu .action-item', { hasText: title }).first();
  for (const title of ['Explain Problem', 'Fix Problem', 'Refactor Selection…', 'Ask…', 'Where Did the Last Ghost Text Come From?', 'Status…']) {
    await entry(title).waitFor();
  }
  const question = page.locator('.quick-input-widget input');
  for (let tries = 0; !await question.isVisible(); tries++) { // an entry that has just come takes no click yet
    if (tries > 10) {
      throw new Error('the entry of the menu does nothing');
    }
    await entry('Ask…').click({ timeout: 5_000 }).catch(() => {});
    await question.waitFor({ timeout: 2_000 }).catch(() => {});
  }
  await question.fill('what is the total?');
  await page.keyboard.press('Enter');
  await seeAnswer(page, 'what is the total?');
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
