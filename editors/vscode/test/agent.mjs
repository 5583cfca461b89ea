// A user has VS Code start the tools that quarry setup vscode has given to its agent.

import { command, session, timeout } from './window.mjs';

const choose = (page, title) => page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();

await session(async (page) => {
  await command(page, 'MCP: List Servers');
  await choose(page, 'quarry');
  await choose(page, 'Start Server');
  await command(page, 'MCP: List Servers');
  await choose(page, 'quarry');
  await choose(page, 'Show Output');
  await command(page, 'View: Toggle Maximized Panel'); // the answer stands above what quarry logs
  for (const end = Date.now() + timeout; ; await page.waitForTimeout(200)) {
    const lines = (await page.locator('.output-view .view-line').allTextContents()).map((line) => line.replaceAll(/\s/g, ' '));
    const found = lines.find((line) => /Discovered \d+ tools/.test(line));
    if (found) {
      console.log(found);
      return;
    }
    if (Date.now() > end) {
      throw new Error(`VS Code found no tools:\n${lines.join('\n')}`);
    }
  }
});
