// A user looks at the status bar while the model is away, missing, coming and there, on another machine, and not wanted, and follows what its menu
// offers; writes a little meanwhile; and has the server killed. The Go test that runs this is Ollama.

import { chord } from './change.mjs';
import { command, openFile, seeAnswer, seeGhost, seeLine, session, step } from './window.mjs';

const seeStatus = async (page, text, more = '') => {
  const item = page.locator(`.statusbar-item[aria-label*="quarry${text}. quarry"][aria-label*="${more}"]`);
  await item.waitFor();
  return item;
};

const choose = async (page, title) => {
  await chord(page, 'q');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
};

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await (await seeStatus(page, ': no model', 'ollama serve')).click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'What still works' }).first().click();
  await seeAnswer(page, 'Search finds code');

  // Until there is a model the first small file is completed too.
  await openFile(page, 'list.go'); // else the status bar keeps the focus, and its words lie over messages
  await seeLine(page, 'func main() {');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('f, err := os.Open("list.txt")', { delay: 30 });
  await page.keyboard.press('Enter');
  await page.keyboard.type('i', { delay: 30 });
  await seeGhost(page, 'f err != nil {');
  await page.keyboard.press('Tab');
  await seeLine(page, 'if err != nil {');

  await choose(page, 'Start Ollama');
  await step('start'); // with another model
  await seeStatus(page, ': no model', 'has no model granite4.1:3b');
  await choose(page, 'Pull granite4.1:3b (2.1 GB)');
  await seeStatus(page, ': granite4.1:3b 40%', 'Until then ghost text is copied');
  await choose(page, 'Pause the download of granite4.1:3b');
  await seeStatus(page, ': no model', 'is paused at 40 %');
  await choose(page, 'Resume the download of granite4.1:3b');
  await seeStatus(page, ': granite4.1:3b 40%', 'Until then ghost text is copied');
  await choose(page, 'Cancel the download of granite4.1:3b');
  await seeStatus(page, ': no model', 'has no model granite4.1:3b');
  await choose(page, 'Use another model');
  await page.locator('.notification-list-item .monaco-button', { hasText: 'granite-code:3b' }).first().click();
  await page.locator('.notification-list-item .monaco-button', { hasText: 'Until quarry ends' }).first().click();
  await seeStatus(page, '', 'Ghost text is by granite-code:3b.');

  // A workspace does not undo what the user has turned off.
  await command(page, 'quarry: Turn Ghost Text On or Off');
  await seeStatus(page, '', 'ghost text is off');
  await step('workspace'); // has ghost text, and no models
  const label = await (await seeStatus(page, ': model-free', 'as the settings want it')).getAttribute('aria-label');
  if (!label.includes('ghost text is off')) {
    throw new Error(`the workspace turned ghost text on: ${label}`);
  }
  await step('plain');
  await seeStatus(page, '', 'Ghost text is by granite-code:3b.');
  await command(page, 'quarry: Turn Ghost Text On or Off');
  await seeStatus(page, '', 'shows ghost text');

  await seeStatus(page, `: no model (on ${await step('gone')})`, 'Code leaves this machine: completion by ');
  const host = await step('elsewhere');
  if (host) {
    await seeStatus(page, `: on ${host}`, 'Code leaves this machine: completion by ');
  }
  await step('off');
  await seeStatus(page, ': model-free', 'as the settings want it');

  await step('kill'); // until another server has started
  await seeStatus(page, ': model-free', 'as the settings want it');
  if (await page.locator('.notification-list-item', { hasText: 'crashed' }).count() > 0) {
    throw new Error('a message about the server that was killed');
  }
}, async (page) => (await page.locator('.statusbar-item[aria-label*="quarry"], .notification-list-item').evaluateAll((items) => items.map((i) => i.ariaLabel ?? i.textContent))).join('\n'));
