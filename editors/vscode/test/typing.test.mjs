// What the window does not show, or not in each case: when an answer counts, which server is started, what the status bar says. The Go tests run this with Node's own test runner.

import assert from 'node:assert/strict';
import * as path from 'node:path';
import test from 'node:test';
import { look, short } from '../src/look.ts';
import { effective } from '../src/layers.ts';
import { onPath, serverPlaces } from '../src/onpath.ts';
import { clearIn, clearTo, laidRun, lay, runsOf, shows, Unseen } from '../src/seen.ts';
import { mayBeTyped, Typing } from '../src/typing.ts';
import { citation, code, inMessage } from '../src/words.ts';

test('an answer near to a keystroke does not count, and nothing is shown before a pause', () => {
  let now = 5000;
  const typing = new Typing(() => now);
  assert.equal(typing.calm(), true, 'nothing was typed yet');
  assert.equal(typing.toWait(), 0);
  typing.note();
  now += 299;
  assert.equal(typing.calm(), false);
  assert.equal(typing.toWait(), 701);
  now += 1;
  assert.equal(typing.calm(), true);
  now += 700;
  assert.equal(typing.toWait(), 0);
  typing.note();
  assert.equal(typing.toWait(), 1000);
});

test('the runs of a diff are those of its hunks, whatever their lines look like', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@\n one\n--- a note\n-- b\n+++ c\n two\n@@ -9,0 +9,2 @@\n+a\n+b\n\\ No newline at end of file\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+new\n--- a/z\n+++ b/z\n@@ -5,2 +4,0 @@\n-'
    + 'x'.repeat(480) + '\n-y\n';
  const run = (before, removed, after, added, rows = removed) => ({ before: { line: before, count: removed, rows }, after: { line: after, count: added, rows: added } });
  assert.deepEqual(runsOf(diff), [[run(1, 2, 1, 1), run(9, 0, 8, 2)], [run(0, 0, 0, 1)], [run(4, 2, 4, 0, 18)]]);
});

test('a change is seen when every part of its lines was', () => {
  const runs = [{ before: { line: 3, count: 2 }, after: { line: 3, count: 1 } }, { before: { line: 20, count: 0 }, after: { line: 19, count: 4 } }];
  const unseen = new Unseen(runs);
  assert.equal(unseen.count(), 2);
  unseen.saw('after', { from: 0, to: 21.5 }); // to the middle of a long line
  assert.deepEqual([unseen.count(), unseen.next()], [2, { side: 'before', from: 3 }]);
  unseen.saw('before', { from: 3, to: 4 });
  assert.equal(unseen.next().from, 4);
  unseen.saw('before', { from: 4, to: 9 });
  assert.deepEqual([unseen.count(), unseen.next()], [1, { side: 'after', from: 21.5 }]);
  unseen.saw('after', { from: 22, to: 30 });
  assert.deepEqual([unseen.count(), unseen.next().from], [1, 21.5]);
  unseen.saw('after', { from: 21.5, to: 22 });
  assert.deepEqual([unseen.count(), unseen.next()], [0, undefined]);
});

test('long lines are shown in parts, and a run goes with them', () => {
  const long = `${'word '.repeat(30)}end`;
  const before = lay(`one\n${long}\n\ttwo\r\n`);
  assert.deepEqual(before.lines, ['one', 'word '.repeat(20), `⤷ ${'word '.repeat(10)}end`, '\ttwo']);
  assert.deepEqual(before.first, [0, 1, 3, 4]);
  assert.match(before.text, /\ttwo\n── end of the file ──\n{60}$/);
  const after = lay('x'.repeat(250));
  assert.deepEqual(after.lines, ['x'.repeat(100), `⤷ ${'x'.repeat(100)}`, `⤷ ${'x'.repeat(50)}`]);
  assert.match(after.text, /\n── end of the file, without a line break ──\n/);
  assert.deepEqual(lay('').lines, []);
  const run = laidRun({ before: { line: 1, count: 2, rows: 0 }, after: { line: 0, count: 1, rows: 0 } }, { before, after });
  assert.deepEqual([run.before.line, run.before.count, run.after.line, run.after.count], [1, 3, 0, 3]);
  assert.deepEqual(laidRun({ before: { line: 3, count: 0, rows: 0 }, after: { line: 1, count: 0, rows: 0 } }, { before, after }).before, { line: 4, count: 0, rows: 0 });
});

test('another text on the screen is not the one that was laid out', () => {
  const laid = lay('\ufeffone\r\ntwo\n');
  assert.equal(shows(laid.text, laid), true);
  assert.equal(shows(laid.text.replace('\ufeff', '').replaceAll('\n', '\r\n'), laid), true, 'a mark of the order of bytes and line ends are the editor\'s');
  assert.equal(shows(lay('one\nthree\n').text, laid), false);
  assert.equal(shows('', laid), false, 'nothing is there yet');
});

test('what is below the message about a change is not seen', () => {
  assert.equal(clearTo(10, 40, 0, () => 1, 12, 8), 32, 'the message takes the last rows');
  assert.equal(clearTo(10, 26, 0, () => 1, 12, 8), 21, 'twelve rows are above it');
  assert.equal(clearTo(10, 26, 0, () => 1, 3, 14), 12, 'in a small window three');
  assert.equal(clearTo(10, 18, 0, () => 4, 12, 8), 12, 'of lines that take four rows each these are three');
  assert.equal(clearTo(10, 12, 0, () => 4, 12, 8), 12, 'all that there are');
  assert.equal(clearTo(10, 12, 8, () => 4, 12, 8), 10, 'eight rows are above them');
  assert.equal(clearTo(10, 12, 100, () => 1, 12, 8), 9, 'none is surely above it');
  assert.equal(clearIn(10, 24, 12, 11), 10.5, 'half of a line of 24 rows is');
  assert.equal(clearIn(10.5, 24, 12, 11), 11, 'and then the rest');
  assert.equal(clearIn(10.25, 48, 12, 10.4), 10.4, 'no more than is on the screen');
  assert.equal(clearIn(10, 10, -3, 11), 10.1, 'a row of it in any window');
});

test('what grows by itself is not typed', () => {
  for (const scheme of ['quarry', 'quarry-change', 'output']) {
    assert.equal(mayBeTyped(scheme), false, scheme);
  }
  for (const scheme of ['file', 'untitled', 'vscode-scm', 'vscode-notebook-cell']) {
    assert.equal(mayBeTyped(scheme), true, scheme);
  }
});

test('a workspace in which VS Code was started chooses no server', () => {
  assert.deepEqual(onPath('quarry', ['', '.', 'bin', '../x', '/usr/bin', '', '/opt/q'].join(path.delimiter)), ['/usr/bin/quarry', '/opt/q/quarry']);
  assert.deepEqual(onPath('quarry', undefined), []);
});

test('a workspace undoes nothing that the user forbids', () => {
  const layers = (globalValue, workspaceValue, workspaceFolderValue) => ({ globalValue, workspaceValue, workspaceFolderValue });
  for (const [merge, given, want] of [
    ['forbid', layers(false, true, true), false],
    ['forbid', layers(false, undefined, true), false],
    ['forbid', layers(true, false), false],
    ['forbid', layers(undefined, false), false],
    ['forbid', layers(undefined, false, true), true], // it takes back its own no
    ['forbid', layers(undefined, true), true],
    ['forbid', layers(false), false],
    ['forbid', layers(), undefined],
    ['forbid', layers(['private'], []), ['private']],
    ['forbid', layers(['private'], ['b', 'private'], ['c']), ['private', 'c']],
    ['forbid', layers(['private'], 'none'), ['private']],
    ['forbid', layers(undefined, ['b']), ['b']],
    ['forbid', layers(undefined, 'none'), 'none'], // for the server to refuse
    ['union', layers(['private'], ['b'], ['c']), ['private', 'b', 'c']],
    ['union', layers(undefined, ['b'], ['c']), ['b', 'c']],
    ['union', layers(['private']), ['private']],
    ['union', layers(), undefined],
    [undefined, layers(1, 2), 2],
    [undefined, layers(1, 2, 3), 3],
    [undefined, layers(false, true), true],
    [undefined, layers(1), 1],
  ]) {
    assert.deepEqual(effective(given, merge), want, JSON.stringify({ merge, ...given }));
  }
});

test('the extension of a platform brings its server', () => {
  assert.deepEqual(serverPlaces('/my/quarry', '/ext', 'linux', '/usr/bin'), ['/my/quarry'], 'what the user set is tried alone');
  assert.deepEqual(serverPlaces(undefined, '/ext', 'linux', '/usr/bin'), ['/ext/bin/quarry', '/usr/bin/quarry']);
  assert.deepEqual(serverPlaces('', '/ext', 'win32', undefined), ['/ext/bin/quarry.exe']);
});

test('the status bar hides nothing that a user should know at a glance', () => {
  const note = (level, text, others = {}) => ({
    level, text, detail: 'More.', model: { name: 'm', state: 'ready', ...others.model }, modelFree: others.modelFree ?? false,
    work: (others.work ?? []).map((kind) => ({ kind })), remedies: [],
    sends: others.sends ?? [{ host: others.model?.host ?? '127.0.0.1:11434', remote: !!others.model?.host }],
  });
  const gpu = { model: { host: 'gpu:1' } };
  const none = { model: { state: 'none' }, modelFree: true };
  const off = { model: { state: 'none', off: true }, modelFree: true };
  for (const [given, icon, text] of [
    [note('ready', 'm'), '$(sparkle)', ''],
    [note('ready', 'm', { work: ['embedding'] }), '$(sparkle)', ''],
    [note('ready', 'm on gpu:1', gpu), '$(cloud-upload)', ': on gpu:1'],
    [note('ready', 'm (code to rank:80)', { sends: [{ host: '127.0.0.1:11434', remote: false }, { host: 'rank:80', remote: true }, { host: 'rank:80', remote: true }] }), '$(cloud-upload)', ': code to rank:80'],
    [note('ready', 'm on gpu:1 (code to rank:80)', { ...gpu, sends: [{ host: 'gpu:1', remote: true }, { host: 'rank:80', remote: true }] }), '$(cloud-upload)', ': on gpu:1, code to rank:80'],
    [note('warning', 'no model (code to rank:80)', { ...none, sends: [{ host: 'rank:80', remote: true }] }), '$(warning)', ': no model (code to rank:80)'],
    [note('ready', 'model-free', off), '$(sparkle)', ': model-free'],
    [note('busy', 'indexing 40%', { work: ['indexing'] }), '$(loading~spin)', ': indexing 40%'],
    [note('busy', 'learning', { work: ['learning'] }), '$(loading~spin)', ': learning'],
    [note('busy', 'indexing 40%', { ...off, work: ['indexing'] }), '$(loading~spin)', ': indexing 40% (model-free)'],
    [note('busy', 'indexing 40%', { ...gpu, work: ['indexing'] }), '$(loading~spin)', ': indexing 40% (on gpu:1)'],
    [note('busy', 'loading m on gpu:1', { model: { state: 'loading', host: 'gpu:1' }, modelFree: true }), '$(loading~spin)', ': loading m on gpu:1'],
    [note('busy', 'm on gpu:1 40%', { model: { state: 'loading', host: 'gpu:1' }, modelFree: true }), '$(loading~spin)', ': m on gpu:1 40%'],
    [note('busy', 'loading m', { model: { state: 'loading' }, modelFree: true, work: ['learning'] }), '$(loading~spin)', ': loading m (learning)'],
    [note('warning', 'no model', none), '$(warning)', ': no model'],
    [note('warning', 'no model', { ...none, work: ['indexing', 'learning'] }), '$(warning)', ': no model (indexing)'],
    [note('warning', 'no model', { model: { state: 'none', host: 'gpu:1' }, modelFree: true }), '$(warning)', ': no model (on gpu:1)'],
    [note('warning', 'index', { ...gpu }), '$(warning)', ': index (on gpu:1)'],
  ]) {
    const shown = look('running', true, '1.0', given);
    assert.deepEqual([shown.icon, shown.text], [icon, text], JSON.stringify(given));
    assert.equal(shown.says, 'quarry 1.0 shows ghost text.\nMore.');
    assert.equal(shown.color, given.level === 'warning' ? 'statusBarItem.warningBackground' : undefined);
  }
  assert.deepEqual(look('running', false, '1.0', note('ready', 'm')), { icon: '$(circle-slash)', text: '', says: 'quarry 1.0: ghost text is off.\nMore.', color: undefined });
  for (const state of ['stopped', 'missing']) {
    assert.equal(look(state, true, '').color, 'statusBarItem.errorBackground');
  }
});

test('long names leave room in the status bar for what stands behind them', () => {
  for (const [text, shown] of [
    [': no model (on gpu.example.com:11434)', ': no model (on gpu.example.com:11434)'],
    [': granite4:micro-h-q4_K_M-2026 40% (model-free)', ': granite4:micro-h-q4_K_M-2026 40% (model-free)'],
    [': loading hf.co/unsloth/Qwen2.5-Coder-7B-GGUF:Q4_K_M (learning)', ': loading hf.co/unslo…-GGUF:Q4_K_M (learning)'],
    [': loading hf.co/unsloth/Qwen2.5-Coder-7B-GGUF:Q4_K_M on workstation.lab.example.com:11434', ': loading hf.co/u…F:Q4_K_M on worksta…om:11434'],
  ]) {
    assert.equal(short(text), shown);
  }
});

test('words of others make no link of a message, nor become the label of one behind them', () => {
  const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)/gi; // as VS Code finds them
  for (const words of ['[a](command:x)', '[a]`(command:x)`', '[`a`](command:x)', '[a``](command:x)', '`[a]`(command:x)', 'see [the documentation', '[[a](command:x)', 'a](command:x)', '[a] (command:x)']) {
    const found = [...`${inMessage(words)} [Apply](command:apply) or [discard](command:discard).`.matchAll(link)].map((m) => m[1]);
    assert.deepEqual(found, ['Apply', 'discard'], words);
  }
  assert.equal(inMessage('`items[0]` is (one)'), 'items［0］ is (one)');
});

test('a citation is found wherever it stands, and a word without end keeps nobody waiting', () => {
  const found = (text) => [...text.matchAll(citation)].map(([, ...parts]) => parts.filter(Boolean).join(' '));
  assert.deepEqual(found('see a.go:3-5, (b/c.go:7), `d.go:1` and *é.go:2-2*: "f:9"'), ['a.go 3 5', 'b/c.go 7', 'd.go 1', 'é.go 2 2', 'f 9']);
  assert.deepEqual(found('a.go:3:4 b.go: 5 :6'), ['a.go 3']);
  assert.deepEqual([...'a b[c].go:3-5'.matchAll(code)].map(([, name]) => name), ['a b[c].go']);
  for (const piece of ['a', '\\x00', 'a:', ':1', 'a:1-']) {
    const text = piece.repeat(4 << 20); // from each letter on, this would take weeks
    for (const pattern of [citation, code]) {
      for (const _ of text.matchAll(pattern)) { /* it ends */ }
    }
  }
});
