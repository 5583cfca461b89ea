// A user asks about files with odd names, and clicks on each that the answer names.

import { openFile, seeAnswer, seeLine, session, step } from './window.mjs';

await session(async (page) => {
  const { questions, names, line, code } = JSON.parse(await step('names'));
  await openFile(page, 'shop.ts');
  for (const [row, question] of questions.entries()) {
    await page.locator('.editor-group-container .monaco-editor .view-lines').first().click();
    await page.keyboard.press('Shift+Alt+Q');
    await page.locator('.quick-input-widget input').fill(question);
    await page.keyboard.press('Enter');
    const answer = await seeAnswer(page, names[row][0]);
    await answer.locator('main li', { hasText: `field ${names[row].length - 1}` }).waitFor();
    const said = await answer.locator('main').textContent();
    if (!said.includes('They are counted field by field, as __init__ wants it.')) {
      throw new Error(`the words are not as they were written: ${said}`);
    }
    for (const [i, name] of names[row].entries()) {
      const point = answer.locator('main li', { hasText: `field ${i} ` });
      const want = `field ${i} (${name}:${line}-${line})`;
      if ((await point.textContent()).trim() !== want) {
        throw new Error(`${await point.innerHTML()} does not read ${want}`);
      }
      await point.locator('button.place').click();
      await page.locator('.editor-group-container .tab.active', { hasText: name.split('/').at(-1) }).first().waitFor();
      await seeLine(page, `${code} ${i}`);
      await page.locator('.statusbar-item', { hasText: `Ln ${line}, Col 1` }).first().waitFor();
    }
  }
}, async (page) => (await page.locator('.tab').allTextContents()).join('\n'));
