// The window of VS Code in a real browser, and what a user does in it whatever they are there for.
//
//   node SESSION.mjs FOLDER URL CHROMIUM [PICTURES]      (FOLDER has node_modules/playwright-core)

import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [folder, url, executablePath, pictures] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core');
export const timeout = 180_000; // TypeScript alone takes a minute on a machine that is busy

/**
 * Opens the window, waits for quarry, and lets the user do what they came for. What the window was like when it went wrong is
 * kept, with what explain says.
 *
 * @param first runs in the page before anything of VS Code does
 */
export async function session(live, explain = () => '', first = undefined) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 700 } });
  page.setDefaultTimeout(timeout);
  if (first) {
    await page.addInitScript(first);
  }
  try {
    await page.goto(url);
    await page.locator('.monaco-workbench').waitFor();
    await page.locator('.statusbar-item[aria-label*="shows ghost text"]').waitFor({ timeout: 2 * timeout });
    await live(page);
  } catch (error) {
    await page.screenshot({ path: join(tmpdir(), 'quarry-vscode-failed.png') }).catch(() => {});
    console.error(`${error.stack}\n${await Promise.resolve(explain(page)).catch(() => '')}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

/** Has the Go test do its part of a session, and answers what it says of it. */
export async function step(name) {
  const answer = await fetch(`${process.env.QUARRY_STEPS}/${name}`);
  const said = await answer.text();
  if (!answer.ok) {
    throw new Error(`${name}: ${said}`);
  }
  return said;
}

/**
 * Writes into the palette. Another one may close it in that moment, and what is typed then, as by fill, would go into the code.
 */
const write = (input, text) => input.evaluate((element, value) => {
  element.value = value;
  element.dispatchEvent(new Event('input', { bubbles: true }));
}, text, { timeout: 5_000 });

/** Runs a command of the palette, which another one may close before it is filled in. */
export async function command(page, name) {
  for (const end = Date.now() + timeout; ;) {
    await page.keyboard.press('F1');
    const input = page.locator('.quick-input-widget input');
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
    try {
      await input.waitFor({ timeout: 5_000 });
      await write(input, `>${name}`);
      await row.click({ timeout: 5_000 });
      return;
    } catch (error) {
      if (Date.now() > end) {
        throw error;
      }
    }
  }
}

/**
 * VS Code makes what it adds to an opened editor, ghost text among it, when the window is idle, after 5 s at the latest. Until then
 * typing asks for no ghost text. A callback that is requested after VS Code's own, with a later limit, runs after it.
 */
const whole = (page) => page.evaluate(() => new Promise((done) => { requestIdleCallback(done, { timeout: 6_000 }); }));

/** Opens a file: by its own row, since the list may not be down to it yet, and Enter takes whatever is first. */
export async function openFile(page, name) {
  const tab = page.locator('.editor-group-container.active .tab.active', { hasText: name }).first();
  for (const end = Date.now() + timeout; ;) {
    await page.keyboard.press('Control+P');
    try {
      const input = page.locator('.quick-input-widget input');
      await input.waitFor({ timeout: 5_000 });
      await write(input, name);
      await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click({ timeout: 5_000 });
      await tab.waitFor({ timeout: 5_000 });
      await whole(page);
      return;
    } catch (error) {
      if (Date.now() > end) {
        throw new Error(`${name} does not open: ${error}`);
      }
    }
  }
}

/** The frame of the panel with quarry's answers that has the text, when it has it. */
export async function seeAnswer(page, text) {
  for (const end = Date.now() + timeout; ; await page.waitForTimeout(100)) {
    const said = [];
    for (const frame of page.frames()) {
      const main = await frame.evaluate(() => document.querySelector('main')?.textContent ?? '').catch(() => ''); // a frame comes and goes
      if (main.includes(text)) {
        return frame;
      }
      said.push(main);
    }
    if (Date.now() > end) {
      throw new Error(`no answer with ${JSON.stringify(text)} in ${JSON.stringify(said)}`);
    }
  }
}

/** Waits until a line of an editor contains text, blanks aside: VS Code draws them as hard ones. */
export async function seeLine(page, text) {
  const want = text.replaceAll(/\s/g, '');
  for (const end = Date.now() + timeout; ; await page.waitForTimeout(100)) {
    const lines = await page.locator('.view-line').allTextContents();
    if (lines.some((line) => line.replaceAll(/\s/g, '').includes(want))) {
      return;
    }
    if (Date.now() > end) {
      throw new Error(`no line with ${JSON.stringify(text)} in\n${lines.join('\n')}`);
    }
  }
}

/** The ghost text without its blanks. VS Code colours it, so that each token is an element. */
export const ghost = async (page) => {
  const tokens = await page.locator('.ghost-text-decoration, .ghost-text').allTextContents();
  return tokens.join('').replaceAll(/\s/g, '');
};

/** Waits until the ghost text contains what, blanks aside, and answers it without them. */
export async function seeGhost(page, what) {
  const end = Date.now() + timeout;
  for (;;) {
    const now = await ghost(page);
    if (now.includes(what.replaceAll(/\s/g, ''))) {
      return now;
    }
    if (Date.now() > end) {
      throw new Error(`no ghost text with ${JSON.stringify(what)}, but ${JSON.stringify(now)}`);
    }
    await page.waitForTimeout(100);
  }
}

/** Takes a picture, if pictures were asked for. */
export async function picture(page, name) {
  if (pictures) {
    await page.screenshot({ path: join(pictures, name) });
  }
}
