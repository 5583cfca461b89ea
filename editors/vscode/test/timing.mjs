// When the last key came and when ghost text was there, with a model that answers at once: printed as JSON, in milliseconds since 1970.

import { openFile, seeLine, session, timeout } from './window.mjs';

const tries = Number(process.env.QUARRY_TRIES);

/** Starts to look at every frame of the page, and keeps when the last key came and when ghost text was first there after it, by the machine's clock. */
const watch = () => {
  const ghost = () => [...document.querySelectorAll('.ghost-text-decoration, .ghost-text')].map((e) => e.textContent).join('').replaceAll(/\s/g, '');
  const now = () => Math.round(performance.timeOrigin + performance.now());
  const seen = { key: 0, shown: undefined, ghost };
  window.quarrySeen = seen;
  window.addEventListener('keydown', () => Object.assign(seen, { key: now(), shown: undefined }), true);
  const frame = () => {
    if (seen.shown === undefined && ghost() !== '') {
      seen.shown = now();
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
    await page.waitForFunction((text) => window.quarrySeen.shown !== undefined && window.quarrySeen.ghost().includes(text), want, { timeout });
    times.push(await page.evaluate(() => ({ key: window.quarrySeen.key, shown: window.quarrySeen.shown })));
    await page.keyboard.press('Tab');
    await seeLine(page, `place${i} = ${want}`);
    await page.keyboard.press('Enter');
  }
  await page.keyboard.press('Control+S');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
  console.log(JSON.stringify(times));
});
