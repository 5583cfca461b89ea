// A user asks while they write on: the answer comes beside the code as it is written, never in its place, and ends when they have enough of it. The
// Go test that runs this lets the model speak, and checks that it was stopped.

import { openFile, seeAnswer, seeLine, session, step } from './window.mjs';

const ask = async (page) => {
  await page.keyboard.press('Shift+Alt+Q');
  await page.locator('.quick-input-widget input').fill('how are totals made?');
  await page.keyboard.press('Enter');
};

/** The code is on the screen, and has the focus. */
const seeCode = async (page) => {
  await seeLine(page, 'let n = 0;');
  await page.locator('.editor-group-container.active .tab.active', { hasText: 'shop.ts' }).first().waitFor();
};

await session(async (page) => {
  await openFile(page, 'shop.ts');
  await seeCode(page);
  await ask(page);
  await step('begin');
  const answer = await seeAnswer(page, 'adds every Count');
  if ((await answer.locator('main').textContent()).includes('an Item has one')) {
    throw new Error('the whole answer is there before it is written');
  }
  if (await answer.locator('main li code', { hasText: 'total' }).count() !== 1) {
    throw new Error(`no list with code: ${await answer.locator('main').innerHTML()}`);
  }
  await seeCode(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('// goes on', { delay: 60 });
  await seeLine(page, '// goes on');

  const progress = page.locator('.statusbar-item[aria-label*="how are totals made"]').first();
  await progress.click();
  await page.locator('.notification-list-item .monaco-button', { hasText: 'Cancel' }).first().click();
  await step('stopped');
  await progress.waitFor({ state: 'hidden' });

  await ask(page);
  await step('speak');
  const whole = await seeAnswer(page, 'an Item has one');
  await seeCode(page);

  await whole.locator('main').click();
  await page.keyboard.press('Control+F');
  await whole.locator('search input').waitFor();
  await page.keyboard.type('item');
  const found = async (text) => { await whole.locator('search output', { hasText: text }).waitFor(); };
  await found(/^1 of 3$/);
  await page.keyboard.press('Shift+Enter');
  await found(/^3 of 3$/);
  await page.keyboard.press('Enter');
  await found(/^1 of 3$/);
  await page.keyboard.type('less');
  await found(/^Not here$/);
  await page.keyboard.press('Escape');
  await whole.locator('search input').waitFor({ state: 'hidden' });
  if (await page.locator('.tab', { hasText: 'quarry' }).count() !== 1) {
    throw new Error('two answers do not share a panel');
  }
}, async (page) => (await page.locator('.statusbar-item').evaluateAll((items) => items.map((i) => i.ariaLabel))).join('\n'));
