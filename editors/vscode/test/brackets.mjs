// A user writes calls, whose brackets VS Code closes itself, and accepts ghost text in them; asks for ghost text by its key and goes through
// the candidates. The Go test that runs this has the model answer, and checks the file that was saved.

import { command, openFile, seeGhost, seeLine, session } from './window.mjs';

/** Writes on in a line of its own below all that is there. */
const newLine = async (page) => {
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Enter');
};

await session(async (page) => {
  await openFile(page, 'calls.ts');
  await seeLine(page, 'declare function area');
  await command(page, 'View: Focus First Editor Group');

  for (const [typed, ghost, line] of [
    ['area(', '2, 3', 'area(2, 3);'],
    ['list([', '4, 5', 'list([4, 5]);'],
    ['say("', 'good day', 'say("good day");'],
    ['first(', ';', 'first();'],
  ]) {
    await newLine(page);
    await page.keyboard.type(typed, { delay: 60 }); // VS Code closes what is open
    await seeGhost(page, ghost);
    await page.keyboard.press('Tab');
    await seeLine(page, line);
  }

  // A block has all of its lines where only closers follow.
  await newLine(page);
  await page.keyboard.type('each((n) => {', { delay: 60 });
  await seeGhost(page, 'return n + n;');
  await page.keyboard.press('Tab');
  await seeLine(page, 'return n + n;');
  await newLine(page);
  await page.keyboard.type('pick(', { delay: 60 });
  await seeGhost(page, 'return n * n;');
  await page.keyboard.press('Alt+L'); // its first line
  await seeLine(page, 'pick((n) => {');
  await seeGhost(page, 'return n * n;');
  await page.keyboard.press('Tab');
  await seeLine(page, 'return n * n;');

  await newLine(page);
  await page.keyboard.type('const word = ', { delay: 60 });
  await seeGhost(page, '1+');
  await page.keyboard.press('Alt+\\');
  const seen = new Set();
  for (let tries = 0; seen.size < 2; tries++) {
    if (tries > 50) {
      throw new Error(`the candidates are ${JSON.stringify([...seen])}`);
    }
    seen.add(await seeGhost(page, '+'));
    await page.keyboard.press(tries % 2 === 0 ? 'Alt+]' : 'Alt+[');
    await page.waitForTimeout(200);
  }
  await page.keyboard.press('Escape');
  await command(page, 'File: Save All');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
}, async (page) => (await page.locator('.view-line').allTextContents()).join('\n'));
