// A change that has more than the window shows: removed lines at the top and more of them than fit into the window, lines longer than the
// window, and one that moves out of an `if` by its blanks alone. However often the user says yes, it is made only once every
// word of its lines was on the screen, above the message about it; the Go test that runs this checks the file.

import { chord, seeChange, showsChange } from './change.mjs';
import { command, openFile, picture, seeLine, session } from './window.mjs';

const words = process.env.QUARRY_WORDS.split(' ');
const [width, height] = process.env.QUARRY_WINDOW.split('x').map(Number);

/**
 * Has the page note the lines of the change that the user has seen, with the blanks before them: those that stood on the screen for nearly as long as
 * the glance of proposals.ts, as signs of removed and added ones and what they say. The page looks all the time, since on a loaded machine the window
 * may move on between two looks from here.
 */
const watch = (page) => page.evaluate(() => {
  const rows = () => {
    const on = [];
    for (const row of document.querySelectorAll('.monaco-diff-editor .editor.modified .view-line')) {
      const { left, top, bottom } = row.getBoundingClientRect();
      const { right } = row.firstElementChild?.getBoundingClientRect() ?? { right: left };
      const area = row.closest('.monaco-diff-editor').getBoundingClientRect();
      if (top >= area.top - 1 && bottom <= area.bottom + 1 && right <= area.right && document.elementFromPoint(Math.max(left, area.left + 90) + 5, (top + bottom) / 2)?.closest('.monaco-diff-editor')) {
        on.push((row.closest('.view-zones') ? '-' : ' ') + row.textContent.replaceAll('\u00a0', ' '));
      }
    }
    return on;
  };
  window.seen = new Set();
  let since = new Map(); // when each line that is on the screen came there
  setInterval(() => {
    const now = performance.now();
    since = new Map(rows().map((row) => [row, since.get(row) ?? now]));
    for (const [row, came] of since) {
      if (now - came >= 250) {
        window.seen.add(row);
      }
    }
  }, 40);
});

await session(async (page) => {
  await page.setViewportSize({ width, height });
  await openFile(page, 'purge.py');
  await seeLine(page, 'def purge');
  await page.locator('.view-line', { hasText: 'def purge' }).first().click();
  await page.keyboard.press('Control+A');
  await chord(page, 'r');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Simplify' }).first().click();
  await seeChange(page);
  await page.locator('.statusbar-item', { hasText: 'Alt+Q A shows more' }).first().waitFor();
  await picture(page, `vscode-unseen-${width}.png`);

  await watch(page);
  const look = () => page.evaluate(() => [...window.seen]);
  let walks = false;
  for (let n = 0; await showsChange(page); n++) {
    if (n > 60) {
      throw new Error(`not applied, though all of this was seen:\n${(await look()).join('\n')}\nleft: ${await page.locator('.statusbar-item', { hasText: 'Change' }).first().textContent()}`);
    }
    await page.waitForTimeout(600); // longer than the glance of proposals.ts
    await chord(page, 'a');
    await page.locator('.monaco-diff-editor').first().waitFor({ state: 'hidden', timeout: 1_000 }).catch(() => {});
    if (await page.locator('.statusbar-item', { hasText: 'Not applied: look, then Alt+Q A' }).count() > 0) {
      walks = true;
      await page.locator('.notification-list-item', { hasText: 'Apply this change' }).first().waitFor({ state: 'hidden' });
    }
  }
  const seen = await look();
  const missing = words.filter((word) => !seen.some((row) => row.includes(word)));
  if (missing.length > 0) {
    throw new Error(`applied, though ${missing} were never seen, but this:\n${seen.join('\n')}`);
  }
  for (const [sign, indent] of [['-', '        '], [' ', '    ']]) {
    if (!seen.some((row) => row === `${sign}${indent}wipe_all(n)`)) {
      throw new Error(`the line that moves is not drawn with ${indent.length} blanks:\n${seen.join('\n')}`);
    }
  }
  if (!walks) {
    throw new Error(`not told to look on, where this was seen:\n${seen.join('\n')}`);
  }
  await command(page, 'File: Save All');
  await page.locator('.tab.dirty').first().waitFor({ state: 'hidden' });
}, async (page) => (await page.locator('.notification-list-item').allTextContents()).join('\n'));
