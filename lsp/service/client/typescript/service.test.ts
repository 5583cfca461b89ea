// The client against the quarry serve at QUARRY_SOCKET, a process of its own that no one else uses and that takes devices. QUARRY_FOLDER is a repository with
// barn/a.go, which has a function Harvest. The last test ends the service.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  Client, ConnectionError, NotRunningError, OtherProtocolError, PairingError, RequestError, codeOtherSettings, connect, connectDevice, findSocket, pair,
  patience, protocol, type Credentials, type Method, type Offered, type Options, type Result, type ShowDocument,
} from './client.ts';

const socket = process.env.QUARRY_SOCKET!;
const folder = process.env.QUARRY_FOLDER!;
const roots = [folder];

async function connected(t: { after(f: () => Promise<void>): void }, options: Partial<Options> = {}): Promise<Client> {
  const quarry = await connect({ socket, client: 'test', roots, ...options });
  t.after(() => quarry.close());
  return quarry;
}

test('the socket is where quarry says', async () => {
  assert.equal(await findSocket(), socket);
});

test('a search is answered, in batches first', async (t) => {
  const batches: Result[][] = [];
  const quarry = await connected(t);
  assert.equal(quarry.welcome.protocol, protocol);
  assert.deepEqual(quarry.welcome.roots, roots);
  const answer = await quarry.search({ query: 'Harvest', k: 3, includeText: true, current: true }, { onResults: (some) => batches.push(some) });
  const first = answer.results?.[0];
  assert.equal(first?.path, 'barn/a.go');
  assert.match(first?.text ?? '', /func Harvest/);
  assert.ok(batches.length > 0 && batches.flat().some((r) => r.path === 'barn/a.go'), JSON.stringify(batches));
  for (const find of [quarry.searchLexical, quarry.searchSemantic]) {
    assert.ok(Array.isArray((await find.call(quarry, { query: 'Harvest', filters: { languages: ['go'] } })).results));
  }
});

test('each method is there', async (t) => {
  const shown: ShowDocument[] = [];
  const quarry = await connected(t, {
    showDocument: async (params) => {
      shown.push(params);
      return true;
    },
  });
  const asked: Method[] = [
    'quarry/content.getSpan', 'quarry/devices.list', 'quarry/devices.pair', 'quarry/devices.paired', 'quarry/devices.revoke', 'quarry/index.addRoot', 'quarry/index.rebuild', 'quarry/index.removeRoot', 'quarry/index.status', 'quarry/open.atSpan',
    'quarry/search.hybrid', 'quarry/search.lexical', 'quarry/search.semantic', 'quarry/service.status', 'quarry/similar', 'quarry/tools.call',
  ];
  assert.deepEqual([...quarry.welcome.methods ?? []].sort(), [...asked, 'quarry/hello'].sort());
  assert.match((await quarry.span({ path: 'barn/a.go', startLine: 3, endLine: 4 })).text, /^\/\/ Harvest collects/);
  assert.deepEqual(await quarry.call('quarry/open.atSpan', { path: 'barn/a.go', startLine: 4, endLine: 4 }), { shown: true });
  assert.equal(shown[0]?.selection?.start.line, 3);
  assert.ok(Array.isArray((await quarry.similar({ code: 'func Gather(n int) int { return n }', current: true })).results));
  const other = path.join(folder, 'barn');
  assert.deepEqual(await quarry.addRoot(other), [folder, other]);
  assert.deepEqual(await quarry.removeRoot(other), roots);
  assert.equal((await quarry.call('quarry/index.status', null))?.[0]?.root, folder);
  assert.equal(await quarry.call('quarry/index.rebuild', null), null);
  assert.equal((await quarry.status()).process, quarry.welcome.process);
  assert.equal((await quarry.call('quarry/devices.list', null)).addresses?.length, 1);
  const tool = await quarry.tool('search_code', { query: 'Harvest' });
  assert.ok(tool.ok && JSON.stringify(tool.data).includes('barn/a.go'), JSON.stringify(tool));
  await assert.rejects(quarry.search({ query: 'a', k: -1 }), (err: Error) => err instanceof RequestError && err.code === -32602);
  await assert.rejects(quarry.addRoot('barn'), /not an absolute path/);
});

test('a signal ends a call that would never end', async (t) => {
  const stop = new AbortController();
  const quarry = await connected(t, {
    showDocument: () => {
      stop.abort();
      return new Promise(() => undefined); // the service waits for this
    },
  });
  const { answered } = await quarry.status();
  await assert.rejects(quarry.call('quarry/open.atSpan', { path: 'barn/a.go', startLine: 1, endLine: 1 }, { signal: stop.signal }), { name: 'AbortError' });
  while ((await quarry.status()).answered === answered); // it has ended there, too
});

/** A code for a device that may search in the folder, and the address of the service. */
async function offered(quarry: Client, name: string): Promise<Offered & { address: string }> {
  const offer = await quarry.call('quarry/devices.pair', { name, roots });
  return { ...offer, address: offer.addresses![0]! };
}

test('a device is paired, searches in its folders, and is let in until it is revoked', async (t) => {
  const quarry = await connected(t);
  const { address, code } = await offered(quarry, 'laptop');
  const waits = quarry.call('quarry/devices.paired', null);
  const who = await pair(address, code.toLowerCase());
  assert.deepEqual([who.address, who.name, who.roots], [address, 'laptop', roots]);
  assert.equal((await waits).id, who.id);
  const batches: Result[][] = [];
  const device = await connectDevice(JSON.parse(JSON.stringify(who)) as Credentials, { client: 'elsewhere', roots });
  t.after(() => device.close());
  const answer = await device.search({ query: 'Harvest', k: 3, includeText: true, current: true }, { onResults: (some) => batches.push(some) });
  assert.equal(answer.results?.[0]?.path, 'barn/a.go');
  assert.ok(batches.length > 0);
  await assert.rejects(device.addRoot(path.dirname(folder)), /not among the folders of this device/);
  await assert.rejects(connectDevice(who, { roots: [path.dirname(folder)] }), (err: Error) => err instanceof RequestError && /not among the folders/.test(err.message));
  await assert.rejects(device.call('quarry/devices.list', null), /not found/);
  assert.equal((await quarry.call('quarry/devices.list', null)).devices?.[0]?.connected, true);
  await assert.rejects(connectDevice({ ...who, key: Buffer.alloc(32, 1).toString('base64') }), (err: Error) => err instanceof PairingError && /not paired, or was revoked/.test(err.message));
  assert.equal((await quarry.call('quarry/devices.revoke', { name: 'laptop' })).id, who.id);
  await assert.rejects(device.search({ query: 'Harvest' }), ConnectionError);
  await assert.rejects(connectDevice(who, { roots }), (err: Error) => err instanceof PairingError && /was revoked: pair it by `quarry serve pair`/.test(err.message));
});

test('a code that is wrong, old or used pairs nobody', async (t) => {
  const quarry = await connected(t);
  const { address, code } = await offered(quarry, 'phone');
  const no = (text: string): Promise<void> => assert.rejects(pair(address, text), (err: Error) => err instanceof PairingError && /the code is wrong, old or used: ask for another one/.test(err.message));
  await no('0000-0000-0000-0000');
  await pair(address, code);
  await no(code);
  await quarry.call('quarry/devices.revoke', { name: 'phone' });
});

test('what a device keeps is what quarry serve join keeps', async (t) => {
  const run = promisify(execFile);
  const joined = path.join(path.dirname(socket), 'joined');
  const quarry = await connected(t);
  const first = await offered(quarry, 'theirs');
  await run('quarry', ['serve', 'join', first.address, first.code, '--as', 'theirs']);
  const theirs = JSON.parse(fs.readFileSync(path.join(joined, 'theirs.json'), 'utf8')) as Credentials;
  const device = await connectDevice(theirs, { roots: theirs.roots });
  assert.equal((await device.search({ query: 'Harvest', current: true })).results?.[0]?.path, 'barn/a.go');
  await device.close();
  const second = await offered(quarry, 'ours');
  const ours = await pair(second.address, second.code);
  assert.deepEqual(Object.keys(ours), Object.keys(theirs));
  fs.writeFileSync(path.join(joined, 'ours.json'), JSON.stringify(ours), { mode: 0o600 });
  const { stdout } = await run('quarry', ['search', '--at', 'ours', '--json', 'Harvest']);
  assert.match(stdout, /"barn\/a\.go"/);
});

test('a service of another version is not spoken to', async () => {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'q'));
  try {
    fs.writeFileSync(path.join(copy, 'package.json'), '{"type":"module"}');
    const kind = path.extname(fileURLToPath(import.meta.url));
    for (const name of ['client', 'device', 'errors', 'frames', 'rpc', 'schema', 'socket', 'websocket']) {
      fs.writeFileSync(path.join(copy, name + kind), fs.readFileSync(path.join(here, name + kind), 'utf8').replace(`const protocol = ${protocol};`, `const protocol = ${protocol + 1};`));
    }
    const next = await import(path.join(copy, 'client' + kind)) as { connect: typeof connect; OtherProtocolError: typeof OtherProtocolError };
    await assert.rejects(next.connect({ socket, roots }), (err: Error) =>
      err instanceof next.OtherProtocolError && err.service === protocol && err.client === protocol + 1 && /end that process .* or update the client/.test(err.message));
  } finally {
    fs.rmSync(copy, { recursive: true });
  }
});

test('a client that the service refuses hears why', async () => {
  await assert.rejects(connect({ socket, settings: 'others' }), (err: Error) => err instanceof RequestError && err.code === codeOtherSettings && /other settings/.test(err.message));
  await assert.rejects(connect({ socket, roots: ['barn'] }), /not an absolute path/);
  await assert.rejects(connect({ socket, client: 'x'.repeat(201) }), /give one of at most 200/);
  await assert.rejects(connect({ socket, roots: [path.join(folder, 'nowhere')] }), /no folder that can be read/);
});

test('this program may be busy for longer than a service is waited for', async (t) => {
  const was = { ...patience };
  t.after(() => Object.assign(patience, was));
  Object.assign(patience, { every: 1, alive: 1000 });
  const quarry = await connected(t, { showDocument: () => new Promise(() => undefined) });
  const never = assert.rejects(quarry.call('quarry/open.atSpan', { path: 'barn/a.go', startLine: 1, endLine: 1 }), /this program closed/);
  for (let i = 0; i < 2; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5 + i)); // a probe is under way, or near
    for (const until = Date.now() + 2 * patience.alive; Date.now() < until;);
  }
  await quarry.status();
  await quarry.close();
  await never;
});

test('a service that is stopped is left', async (t) => {
  const was = { ...patience };
  t.after(() => Object.assign(patience, was));
  const quarry = await connected(t);
  process.kill(quarry.welcome.process, 'SIGSTOP');
  try {
    const threads = `/proc/${quarry.welcome.process}/task`;
    const stopped = (): boolean => fs.readdirSync(threads).every((id) => fs.readFileSync(path.join(threads, id, 'stat'), 'utf8').includes(') T '));
    while (!stopped()); // a signal is heard a moment later, until which one thread may answer
    Object.assign(patience, { hello: 100, every: 50, alive: 100 });
    const silent = (err: Error): boolean => err instanceof ConnectionError && /it is stopped, or hangs; end its process and start it again/.test(err.message);
    await assert.rejects(quarry.search({ query: 'Harvest' }), silent);
    await assert.rejects(connect({ socket }), silent);
  } finally {
    process.kill(quarry.welcome.process, 'SIGCONT');
  }
});

test('a service that ends is gone', async (t) => {
  const quarry = await connected(t, { showDocument: () => process.kill(quarry.welcome.process, 'SIGTERM') && new Promise(() => undefined) });
  await assert.rejects(quarry.call('quarry/open.atSpan', { path: 'barn/a.go', startLine: 1, endLine: 1 }), /start it again|cancel/);
  await assert.rejects(connect({ socket }), NotRunningError);
});
