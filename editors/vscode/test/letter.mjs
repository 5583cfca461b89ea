// A user writes a letter while quarry proposes a change of another file. Nothing of what they type decides, whether the change is on the
// screen yet or not (when it may be is typing.test.mjs's to hold, by a clock of its own: here a busy machine makes pauses), nor does an
// answer by its keys that comes just after a letter; then they say yes, and take it back. The Go test that runs this lets the model speak
// once the letter is begun, and checks the files, into which all editors are saved first.

import { choose, decide, hurry, seeChange, showsChange } from './change.mjs';
import { command, openFile, seeLine, session, step } from './window.mjs';

/** Saves all that is open, changed by whomever. */
const saveAll = async (page) => {
  await command(page, 'File: Save All');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
};

const writeOn = async (page) => {
  await openFile(page, 'letter.txt');
  await command(page, 'View: Focus First Editor Group');
};

await session(async (page) => {
  await openFile(page, 'letter.txt');
  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();
  await choose(page, 'Fix: Property');

  await writeOn(page);
  await page.keyboard.type('Dear reader,\n');
  await page.keyboard.press('Control+S'); // the model speaks now
  await page.keyboard.type('1 yes\n2 apply\n\n3 ok\n', { delay: 100 });
  await seeChange(page);
  await page.keyboard.type('4 me\n', { delay: 100 }); // the letter still has the focus
  await saveAll(page);
  await step('unchanged');

  const again = async () => {
    await writeOn(page);
    await command(page, 'File: Revert File'); // the letter that was typed
    if (!await showsChange(page)) {
      await openFile(page, 'shop.ts');
      await command(page, 'File: Revert File');
      await seeLine(page, 'n += item.Counts;');
      await choose(page, 'Fix: Property');
      await writeOn(page);
    }
    await seeChange(page);
  };
  await hurry(page, 'a', 'Not applied: you typed just before.', again);
  await hurry(page, 'd', 'Not discarded: you typed just before.', again);
  await saveAll(page);
  await step('unchanged');

  await decide(page, true);
  await openFile(page, 'shop.ts');
  await seeLine(page, 'n += item.Count;');
  await saveAll(page);
  await seeLine(page, 'n += item.Count;');
  await command(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+Z');
  await seeLine(page, 'n += item.Counts;');
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
