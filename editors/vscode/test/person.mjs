// One person's session in VS Code, typed in a real browser. The Go test that runs this starts the editor and checks the
// files that were saved; here is what the person does and sees.
//
//   node person.mjs FOLDER URL CHROMIUM [SCREENSHOT]      (FOLDER has node_modules/playwright-core)

import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [folder, url, executablePath, screenshot] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, 'package.json'))('playwright-core');
const timeout = 60_000;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 960, height: 700 } });
page.setDefaultTimeout(timeout);

/** The ghost text without its blanks. VS Code colours it, so that each token is an element. */
const ghost = async () => {
  const tokens = await page.locator('.ghost-text-decoration, .ghost-text').allTextContents();
  return tokens.join('').replaceAll(/\s/g, '');
};

/** Waits until the ghost text contains what, blanks aside. */
async function seeGhost(what) {
  const end = Date.now() + timeout;
  while (!(await ghost()).includes(what.replaceAll(/\s/g, ''))) {
    if (Date.now() > end) {
      throw new Error(`no ghost text with ${JSON.stringify(what)}, but ${JSON.stringify(await ghost())}`);
    }
    await page.waitForTimeout(100);
  }
}

async function command(name) {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').fill(`>${name}`);
  await page.locator('.quick-input-list .monaco-list-row').first().waitFor();
  await page.keyboard.press('Enter');
}

try {
  await page.goto(url);
  await page.locator('.monaco-workbench').waitFor();
  await page.locator('.statusbar-item[aria-label*="shows ghost text"]').waitFor();

  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').fill('shelf.go');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'shelf.go' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.view-line', { hasText: 'package' }).first().waitFor();

  await page.keyboard.press('Control+End');
  await page.keyboard.type('func (s *Shelf) Take(name string, n int) bool {', { delay: 30 });
  await page.keyboard.press('Enter');
  await seeGhost('s.mu.Lock()');
  await seeGhost('return true');
  if (screenshot) {
    await page.screenshot({ path: screenshot });
  }

  await page.keyboard.type('s.mu.L', { delay: 60 });
  await seeGhost('ock()');
  await page.keyboard.press('Control+ArrowRight'); // the next word
  await page.locator('.view-line', { hasText: 's.mu.Lock' }).nth(1).waitFor();
  await seeGhost('return true');
  await page.keyboard.press('Tab');
  await page.locator('.view-line', { hasText: 'return true' }).first().waitFor();
  await page.keyboard.press('Control+S');

  await command('quarry: Where Did the Last Ghost Text Come From?');
  await page.locator('.view-line', { hasText: 'The last ghost text' }).first().waitFor();
  await command('quarry: Turn Ghost Text On or Off');
  await page.locator('.statusbar-item[aria-label*="ghost text is off"]').waitFor();
} catch (error) {
  await page.screenshot({ path: join(tmpdir(), 'quarry-vscode-failed.png') }).catch(() => {});
  console.error(`${error.stack}\nghost text: ${await ghost().catch(() => '(none)')}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
