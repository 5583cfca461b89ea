// What the window does not show: when an answer counts, which server is started. The Go tests run this with Node's own test runner.

import assert from 'node:assert/strict';
import * as path from 'node:path';
import test from 'node:test';
import { onPath, serverPlaces } from '../src/onpath.ts';
import { Typing } from '../src/typing.ts';

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

test('a workspace in which VS Code was started chooses no server', () => {
  assert.deepEqual(onPath('quarry', ['', '.', 'bin', '../x', '/usr/bin', '', '/opt/q'].join(path.delimiter)), ['/usr/bin/quarry', '/opt/q/quarry']);
  assert.deepEqual(onPath('quarry', undefined), []);
});

test('the extension of a platform brings its server', () => {
  assert.deepEqual(serverPlaces('/my/quarry', '/ext', 'linux', '/usr/bin'), ['/my/quarry'], 'what the user set is tried alone');
  assert.deepEqual(serverPlaces(undefined, '/ext', 'linux', '/usr/bin'), ['/ext/bin/quarry', '/usr/bin/quarry']);
  assert.deepEqual(serverPlaces('', '/ext', 'win32', undefined), ['/ext/bin/quarry.exe']);
});
