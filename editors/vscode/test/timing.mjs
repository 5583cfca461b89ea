// When the last key came, when the window asked for ghost text and had it, and when it was on the screen, with a model that answers at once: printed as
// JSON, in milliseconds since 1970.

import { openFile, seeLine, session, timeout } from './window.mjs';

const tries = Number(process.env.QUARRY_TRIES);

/** Starts to look at every frame of the page, and keeps when the last key came and when ghost text was first there after it, by the machine's clock. */
const watch = () => {
  const ghost = () => [...document.querySelectorAll('.ghost-text-decoration, .ghost-text')].map((e) => e.textContent).join('').replaceAll(/\s/g, '');
  const now = Date.now; // the clock that the server's times are of
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

/**
 * Notes when the window asks the process of the extensions for ghost text, and when an answer reaches it, before anything else of the page runs.
 * What is sent are bytes in which names and texts are plain.
 */
const wire = () => {
  const sent = [];
  const received = [];
  window.quarryWire = { sent, received };
  const now = Date.now;
  const textOf = async (data) => (typeof data === 'string' ? data : new TextDecoder('latin1').decode(data instanceof Blob ? await data.arrayBuffer() : data));
  const note = async (list, at, data, name) => {
    const text = await textOf(data);
    if (text.includes(name)) {
      list.push({ at, text });
    }
  };
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => { void note(received, now(), data, 'shelf.Find('); });
    }
    send(data) {
      void note(sent, now(), data.slice(0), '$provideInlineCompletions');
      super.send(data);
    }
  };
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
    const seen = (limit) => page.waitForFunction((text) => window.quarrySeen.shown !== undefined && window.quarrySeen.ghost().includes(text), want, { timeout: limit });
    // A model that is being loaded answers nothing, and nobody asks again before the next key.
    for (const end = Date.now() + timeout; i === 0 && Date.now() < end && !await seen(5_000).then(() => true, () => false);) {
      await page.keyboard.press('Backspace');
      await page.keyboard.type(' ');
    }
    await seen(timeout);
    times.push(await page.evaluate((text) => {
      const { key, shown } = window.quarrySeen;
      const { sent, received } = window.quarryWire;
      const answer = received.find(({ at, text: said }) => key <= at && at <= shown && said.includes(text))?.at ?? 0;
      return { key, sent: sent.findLast(({ at }) => key <= at && at <= answer)?.at ?? 0, received: answer, shown };
    }, want));
    await page.keyboard.press('Tab');
    await seeLine(page, `place${i} = ${want}`);
    await page.keyboard.press('Enter');
  }
  await page.keyboard.press('Control+S');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
  console.log(JSON.stringify(times));
}, () => '', wire);
