// What a user does with a change that quarry proposes.

import { command } from './window.mjs';

const action = (page, title) => page.locator('.action-widget .monaco-list-row', { hasText: title }).first();
const change = (page) => page.locator('.monaco-diff-editor');

/** Puts the cursor onto the problem. */
export async function goToProblem(page) {
  await command(page, 'View: Focus First Editor Group');
  await command(page, 'Go to Next Problem (Error, Warning, Info)');
  await page.keyboard.press('Escape'); // the problem's text below the line
}

/** Puts the cursor onto the problem and chooses an action there. */
export async function choose(page, title) {
  await goToProblem(page);
  for (let tries = 0; ; tries++) {
    await page.keyboard.press('Control+.');
    const row = action(page, title);
    if (await row.waitFor({ timeout: 5_000 }).then(() => true, () => false)) {
      await row.click();
      return;
    }
    if (tries > 10) {
      throw new Error(`no action ${title}`);
    }
    await page.keyboard.press('Escape');
  }
}

/** Waits until a change is shown. */
export const seeChange = (page) => change(page).first().waitFor();

export const showsChange = async (page) => (await change(page).count()) > 0;

/**
 * Says yes or no to a change by the message about it, and once more where a keystroke was too near. The name of its button is no public
 * matter of VS Code's (proposals.ts): where it is lost, this fails.
 */
export async function decide(page, yes) {
  await seeChange(page);
  const message = page.locator('.notification-list-item', { hasText: 'Apply this change' }).first();
  const answer = yes ? message.locator('a', { hasText: 'Apply this change' }) : message.locator('.monaco-button', { hasText: 'Discard' });
  await insist(page, () => answer.first().click({ timeout: 5_000 }));
}

/** Presses Alt+Q and a letter. */
export async function chord(page, letter) {
  await page.keyboard.press('Alt+Q');
  await page.keyboard.press(letter);
}

/** Says yes (a) or no (d) by the keys that the message names, without leaving the code. */
export async function decideByKeys(page, letter) {
  await seeChange(page);
  await insist(page, () => chord(page, letter));
}

/**
 * Types a letter into the code, and answers by keys at once: the browser is handed all of them together. The answer does not
 * count, and the user is told so, which the page itself notes: the message may be gone before a look from here. On a machine so busy
 * that the answer came late, and counted, or keys were lost, it is tried once more.
 *
 * @param again has another change proposed, unless one is shown, and the focus in the code, which is as it was saved
 */
export async function hurry(page, letter, refusal, again) {
  const keys = await page.context().newCDPSession(page);
  const press = (key, modifiers = 0) => [
    { type: modifiers ? 'rawKeyDown' : 'keyDown', key, code: `Key${key.toUpperCase()}`, windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0), modifiers, text: modifiers ? undefined : key },
    { type: 'keyUp', key, code: `Key${key.toUpperCase()}`, windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0), modifiers },
  ];
  const alt = { key: 'Alt', code: 'AltLeft', windowsVirtualKeyCode: 18 };
  const events = [...press('x'), { type: 'rawKeyDown', ...alt, modifiers: 1 }, ...press('q', 1), { type: 'keyUp', ...alt }, ...press(letter)];
  for (let tries = 0; tries < 5; tries++) {
    const told = page.evaluate(([text, ms]) => new Promise((resolve) => {
      const has = () => [...document.querySelectorAll('.notification-list-item')].some((item) => item.textContent.includes(text));
      const before = has();
      const end = (outcome) => {
        observer.disconnect();
        clearTimeout(timer);
        resolve(outcome);
      };
      const observer = new MutationObserver(() => {
        if (!before && has()) {
          end('refused');
        } else if (!document.querySelector('.monaco-diff-editor')) {
          end('counted');
        }
      });
      const timer = setTimeout(() => end(before ? 'refused before' : 'lost'), ms);
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    }), [refusal, 20_000]);
    await Promise.all(events.map((event) => keys.send('Input.dispatchKeyEvent', event)));
    const outcome = await told;
    await again();
    if (outcome === 'refused') {
      return;
    }
  }
  throw new Error(`never told ${JSON.stringify(refusal)}`);
}

/** Says yes by the key that the change has when it has the focus. */
export async function applyInTheDiff(page) {
  await seeChange(page);
  await insist(page, async () => {
    await command(page, 'View: Focus Next Editor Group');
    await page.locator('.editor-group-container.active .monaco-diff-editor').first().waitFor({ timeout: 5_000 });
    await page.keyboard.press('Control+Enter');
  });
}

/** Presses that key in the find box of the diff, where it means a line more, for longer than a hasty key is refused. */
export async function findInTheDiff(page, text) {
  await seeChange(page);
  const focused = page.locator('.editor-group-container.active .monaco-diff-editor').first();
  for (let tries = 0; !await focused.isVisible(); tries++) { // the diff may come only now
    if (tries > 10) {
      throw new Error('the change does not take the focus');
    }
    await command(page, 'View: Focus Next Editor Group');
    await focused.waitFor({ timeout: 5_000 }).catch(() => {});
  }
  const box = page.locator('.monaco-diff-editor .find-widget.visible').first();
  for (let tries = 0; !await box.isVisible(); tries++) {
    if (tries > 10) {
      throw new Error('the diff has no find box');
    }
    await page.keyboard.press('Control+F');
    await box.waitFor({ timeout: 5_000 }).catch(() => {});
  }
  await page.keyboard.type(text);
  await page.waitForTimeout(1_500);
  await page.keyboard.press('Control+Enter');
  await page.waitForTimeout(1_500);
  if (!await showsChange(page)) {
    throw new Error('a key in the find box decided');
  }
  await page.keyboard.press('Escape');
  await command(page, 'View: Focus First Editor Group');
}

/** Reads why the change is proposed where messages are hidden: in the status bar, and in what a click there opens. */
export async function readWhy(page) {
  const item = page.locator('.statusbar-item', { hasText: 'Change: Alt+Q A applies, Alt+Q D discards' }).first();
  const [{ y, height }, bar] = [await item.boundingBox(), await page.locator('.part.statusbar').boundingBox()];
  if (y + height > bar.y + bar.height + 1) {
    throw new Error(`the keys are below the status bar: ${y} and ${height}, ${JSON.stringify(bar)}`);
  }
  await item.click();
  const dialog = page.locator('.monaco-dialog-box');
  const why = await dialog.textContent();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await seeChange(page); // nothing was decided
  return why;
}

/** Answers until the change is off the screen: an answer near to a keystroke does not count, nor one before all is seen, and one may have ended it already. */
async function insist(page, answer) {
  for (let tries = 0; await showsChange(page); tries++) {
    if (tries > 30) {
      throw new Error('the answer does not end the change');
    }
    await answer().catch(() => {}); // what it is about may have gone meanwhile
    await change(page).first().waitFor({ state: 'hidden', timeout: 3_000 }).catch(() => {});
  }
}
