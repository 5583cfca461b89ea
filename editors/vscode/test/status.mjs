// A user looks at the status bar while no model answers, and follows what it offers.

import { openFile, seeAnswer, session } from './window.mjs';

await session(async (page) => {
  await openFile(page, 'shop.ts');
  const item = page.locator('.statusbar-item[aria-label*="quarry: no model"]');
  await item.waitFor();
  if (!(await item.getAttribute('aria-label')).includes('ollama serve')) {
    throw new Error(`the status does not say what to do: ${await item.getAttribute('aria-label')}`);
  }
  await item.click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'What still works' }).first().click();
  await seeAnswer(page, 'Search finds code');
}, async (page) => (await page.locator('.statusbar-item[aria-label*="quarry"]').evaluateAll((items) => items.map((i) => i.ariaLabel))).join('\n'));
