// Whether ghost text stays on the screen while it is typed through: every frame of the page is looked at.

import { openFile, seeLine, session } from './window.mjs';

const typed = 'var place0 = ';
const rest = 'shelf.Find(0)';

/** Looks at every frame of the page from now on, and keeps what the line was where it was not whole. */
const watch = (whole) => {
  const seen = { whole: 0, broken: [] };
  window.quarryFrames = seen;
  const frame = () => {
    const lines = [...document.querySelectorAll('.view-line')].map((e) => e.textContent.replaceAll('\u00a0', ' ').trimEnd());
    const line = lines.find((text) => text.startsWith('var place0'));
    if (line === whole) {
      seen.whole++;
    } else {
      seen.broken.push(line);
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
};

await session(async (page) => {
  await openFile(page, 'shelf.go');
  await seeLine(page, 'package stock');
  await page.keyboard.press('Control+End');
  await page.keyboard.type(typed, { delay: 60 });
  await seeLine(page, typed + rest);
  await page.evaluate(watch, typed + rest);
  for (const key of 'shelf.Find') {
    await page.keyboard.press(key);
    await page.waitForTimeout(40 + 20 * (key.charCodeAt(0) % 4));
  }
  const through = await page.evaluate(() => ({ ...window.quarryFrames, broken: [...window.quarryFrames.broken] }));
  console.log(`typed through: ${through.whole} frames with the whole line, ${through.broken.length} without: ${JSON.stringify(through.broken)}`);
  // VS Code forgets what is shown when less is typed than when it was asked for, and asks again.
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press('Backspace');
    await page.waitForTimeout(60);
  }
  const back = await page.evaluate(() => window.quarryFrames);
  console.log(`taken back: ${back.whole - through.whole} frames with the whole line, ${back.broken.length - through.broken.length} without`);
  if (through.whole < 10 || through.broken.length > 0) {
    throw new Error('ghost text left the screen');
  }
});
