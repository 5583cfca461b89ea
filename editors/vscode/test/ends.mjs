// Servers end while their changes and answers are there or under way. What the window shows of a change is that change, whatever an older
// server proposed, and nothing goes without a word. The Go test that runs this kills the servers.

import { chord, decideByKeys, goToProblem, seeChange, showsChange } from './change.mjs';
import { command, openFile, seeAnswer, seeLine, session, step } from './window.mjs';

/** Has the problem fixed, by a server that may only be starting. */
const fix = async (page) => {
  for (let tries = 0; !await showsChange(page); tries++) {
    if (tries > 15) {
      throw new Error('no change is proposed');
    }
    await goToProblem(page);
    await chord(page, 'f');
    await page.locator('.monaco-diff-editor').first().waitFor({ timeout: 15_000 }).catch(() => {});
  }
};

const ask = async (page, question) => {
  await page.keyboard.press('Shift+Alt+Q');
  await page.locator('.quick-input-widget input').fill(question);
  await page.keyboard.press('Enter');
};

/** Waits for the server after the one that was killed. */
const seeRunning = (page) => page.locator('.statusbar-item[aria-label*="shows ghost text"]').waitFor();

const revert = async (page) => {
  await command(page, 'View: Focus First Editor Group');
  await command(page, 'File: Revert File');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
};

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();
  await command(page, 'View: Close Primary Side Bar');

  // The first change of one server, and then the first of the next: what is shown and applied is the latter.
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+A');
  await chord(page, 'r');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Simplify' }).first().click();
  await seeChange(page);
  await seeLine(page, 'sum += item.Counts;');
  await decideByKeys(page, 'd');
  await command(page, 'quarry: Restart Server');
  await fix(page);
  await page.locator('.statusbar-item', { hasText: 'Change: Alt+Q A applies, Alt+Q D discards' }).first().waitFor(); // all of it is seen
  const shown = (await page.locator('.monaco-diff-editor .view-line').allTextContents()).join('\n').replaceAll('\u00a0', ' ');
  if (!shown.includes('n += item.Count;') || shown.includes('sum')) {
    throw new Error(`the change is to be of Counts alone, and is shown as\n${shown}`);
  }
  await decideByKeys(page, 'a');
  await seeLine(page, 'n += item.Count;');
  await command(page, 'File: Save All');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
  await step('fixed');
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+Z');
  await seeLine(page, 'n += item.Counts;');
  await command(page, 'File: Save All');
  await page.locator('.squiggly-error').first().waitFor();

  // A change comes in the place of an answer, and the code keeps the focus.
  await goToProblem(page);
  await chord(page, 'e');
  await seeAnswer(page, 'Fix: write item.Count.');
  await fix(page);
  await page.keyboard.type('zz');
  await seeLine(page, 'zz');
  await decideByKeys(page, 'd');
  await revert(page);

  // A server that is killed while it answers.
  const bar = (text) => page.locator('.statusbar-item', { hasText: text }).first().waitFor();
  await page.keyboard.press('Control+Home');
  await step('hold');
  await ask(page, 'how are totals made?');
  await step('begin');
  const half = await seeAnswer(page, 'adds every Count');
  await step('kill');
  await half.locator('#note', { hasText: 'The server ended before this was whole: ask again.' }).waitFor();
  await bar('The server ended; ask again (Ask: how are totals made?)');
  await seeAnswer(page, 'adds every Count');
  await step('speak');

  // One that is killed with a change on the screen, or on its way: nothing is left of it but the word.
  await fix(page);
  await step('kill');
  await page.locator('.monaco-diff-editor').first().waitFor({ state: 'hidden' });
  await bar('The server ended; ask again (Fix: Property');
  await page.locator('.notification-list-item', { hasText: 'The server ended; ask again (Fix: Property' }).first().waitFor();
  await command(page, 'Notifications: Clear All Notifications');

  // The next answer is its own, and whole.
  await seeRunning(page);
  await page.keyboard.press('Control+Home');
  await ask(page, 'and what has an Item?');
  const next = await seeAnswer(page, 'and what has an Item?');
  await seeAnswer(page, 'an Item has one');
  await next.locator('#note').waitFor({ state: 'hidden' });

  // With Do Not Disturb the status bar says why nothing was done.
  await command(page, 'Notifications: Toggle Do Not Disturb Mode');
  await goToProblem(page);
  await fix(page);
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('x');
  await decideByKeys(page, 'a');
  await bar('shop.ts changed, so nothing was applied; ask again');
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+Home');
  await chord(page, 'e');
  await bar('There is no problem on this line: F8 goes to the next.');
  if (await page.locator('.notification-list-item').count() > 0) {
    throw new Error('messages are to be hidden');
  }
}, async (page) => [...await page.locator('.notification-list-item').allTextContents(), ...await page.locator('.statusbar-item').allTextContents()].join('\n'));
