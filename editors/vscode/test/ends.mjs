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
}, async (page) => [...await page.locator('.notification-list-item').allTextContents(), ...await page.locator('.statusbar-item').allTextContents()].join('\n'));
