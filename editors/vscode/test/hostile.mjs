// What a model says is looked at in every place that shows it: page, hover, change. The Go test that runs this has put
// images, links and HTML into its words that name a server of its own, and counts who asks there.

import { choose, decide, seeChange } from './change.mjs';
import { command, openFile, seeAnswer, seeLine, session } from './window.mjs';

const spy = process.env.QUARRY_SPY;

await session(async (page) => {
  const asked = [];
  page.context().on('request', (request) => asked.push(request.url()));

  await openFile(page, 'shop.ts');
  await seeLine(page, 'interface Item');
  await page.locator('.squiggly-error').first().waitFor();
  await choose(page, 'Explain: Property');
  const answer = await seeAnswer(page, 'The end of the words');
  if (await answer.locator('main :is(a, img, iframe, svg, form, object, link, script, video)').count() > 0) {
    throw new Error(`the page has more than text: ${await answer.locator('main').innerHTML()}`);
  }

  await openFile(page, 'shop.ts');
  await command(page, 'View: Focus First Editor Group');
  await command(page, 'Go to Next Problem (Error, Warning, Info)');
  await page.keyboard.press('Escape');
  await command(page, 'Show or Focus Hover');
  const hover = page.locator('.monaco-hover', { hasText: 'The end of the words' });
  await hover.first().waitFor();
  if (await hover.locator(`img, [href*="${spy}"], [data-href*="${spy}"], a[href^="command:"]`).count() > 0) {
    throw new Error(`the hover has more than text: ${await hover.first().innerHTML()}`);
  }

  await choose(page, 'Fix: Property');
  await seeChange(page);
  const message = page.locator('.notification-list-item', { hasText: 'Apply this change' }).first(); // it has the first of the words alone
  await message.waitFor();
  const linksOf = (place) => place.locator('[href], [data-href]').evaluateAll((all) => all.map((a) => `${a.textContent} ${a.dataset.href ?? a.getAttribute('href')}`));
  const links = await linksOf(message);
  const own = ['Apply this change command:quarry.vscode.applyChange', 'discard it command:quarry.vscode.discardChange'];
  if (links.filter((link) => link.includes('command:') || link.includes('http')).some((link) => !own.includes(link))) {
    throw new Error(`the message has links: ${links}`);
  }
  await command(page, 'quarry: Why This Change');
  const why = page.locator('.monaco-dialog-box', { hasText: 'The end of the words' }).first();
  await why.waitFor();
  if ((await linksOf(why)).length > 0 || await why.locator('img').count() > 0) {
    throw new Error(`what says why has more than text: ${await why.innerHTML()}`);
  }
  await page.keyboard.press('Escape');
  await why.waitFor({ state: 'hidden' });
  await decide(page, false);

  const leaked = asked.filter((url) => url.includes(spy));
  if (leaked.length > 0) {
    throw new Error(`the window asked for ${leaked}`);
  }
  await page.goto(`${spy}/control`); // that the watch works
  if (!asked.some((url) => url === `${spy}/control`)) {
    throw new Error('a request that was made is not seen');
  }
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
