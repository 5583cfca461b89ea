// How long the user waits from the last key to ghost text, with a model that answers at once. The times are printed; nobody here
// says how long they may be.

import { openFile, seeLine, session, timeout } from './window.mjs';

const tries = Number(process.env.QUARRY_TRIES);

/** Starts to look at every frame of the page, and keeps when the last key came and when ghost text was first there after it. */
const watch = () => {
  const ghost = () => [...document.querySelectorAll('.ghost-text-decoration, .ghost-text')].map((e) => e.textContent).join('').replaceAll(/\s/g, '');
  const seen = { key: 0, took: undefined, ghost };
  window.quarrySeen = seen;
  window.addEventListener('keydown', () => Object.assign(seen, { key: performance.now(), took: undefined }), true);
  const frame = () => {
    if (seen.took === undefined && ghost() !== '') {
      seen.took = performance.now() - seen.key;
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
};

await session(async (page) => {
  await openFile(page, 'shelf.go');
  await seeLine(page, 'package stock');
  await page.keyboard.press('Control+End');
  await page.evaluate(watch);
  const times = [];
  for (let i = 0; i < tries; i++) {
    await page.keyboard.type(`var place${i} = `, { delay: 60 });
    const want = `shelf.Find(${i})`;
    await page.waitForFunction((text) => window.quarrySeen.took !== undefined && window.quarrySeen.ghost().includes(text), want, { timeout });
    times.push(await page.evaluate(() => window.quarrySeen.took));
    await page.keyboard.press('Tab');
    await seeLine(page, `place${i} = ${want}`);
    await page.keyboard.press('Enter');
  }
  times.sort((a, b) => a - b);
  console.log(`last key to ghost text: median ${times[tries >> 1].toFixed(0)} ms, from ${times[0].toFixed(0)} to ${times[tries - 1].toFixed(0)}, of ${tries}`);
  await page.keyboard.press('Control+S');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
});
