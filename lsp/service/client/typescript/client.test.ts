// The client against what is no good service. service.test.ts has the real one.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import test from 'node:test';
import { ConnectionError, NotRunningError, OtherProtocolError, RequestError, UnsafeSocketError, connect, findSocket, patience, protocol, type Progress } from './client.ts';
import { Frames } from './frames.ts';

interface Message {
  id?: number;
  method?: string;
  params?: any;
  result?: any;
  error?: any;
}

/** What a fake service says to a client. */
interface Peer {
  conn: net.Socket;
  say(message: object): void;
}

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'q'));
test.after(() => fs.rmSync(dir, { recursive: true }));
let count = 0;

/** A path for a socket in a folder of its own. */
function place(mode = 0o700): string {
  const folder = path.join(dir, String(++count));
  fs.mkdirSync(folder);
  fs.chmodSync(folder, mode);
  return path.join(folder, 's');
}

function frame(text: string): string {
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** A service that hears messages, behind hello if greets. It ends with the test. */
async function fake(t: { after(f: () => void): void }, hear: (peer: Peer, message: Message) => void, greets = true): Promise<string> {
  const socket = place();
  const all = new Set<net.Socket>();
  const server = net.createServer((conn) => {
    all.add(conn);
    const peer: Peer = { conn, say: (message) => conn.write(frame(JSON.stringify({ protocol, jsonrpc: '2.0', ...message }))) };
    const frames = new Frames(1 << 21);
    conn.on('error', () => undefined);
    conn.on('data', (piece) => {
      for (const body of frames.push(piece as Buffer)) {
        const message = JSON.parse(body.toString()) as Message;
        if (greets && message.method === 'quarry/hello') {
          peer.say({ id: message.id, result: { protocol, version: 'test', process: 1, roots: [], methods: [] } });
        } else {
          hear(peer, message);
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => {
    server.close();
    for (const conn of all) {
      conn.destroy();
    }
  });
  return socket;
}

const answer = { results: [], backend: [], total: 0, timings_ms: {} };

/** Has services waited for less, until the test ends. */
function hurry(t: { after(f: () => void): void }, less: Partial<typeof patience>): void {
  const was = { ...patience };
  Object.assign(patience, less);
  t.after(() => Object.assign(patience, was));
}

test('a service is waited for five seconds, and asked every three', () => {
  assert.deepEqual(patience, { answer: 10_000, leave: 1000, hello: 5000, every: 3000, alive: 5000 });
});

test('where no service runs the error says so', async () => {
  const socket = place();
  await assert.rejects(connect({ socket }), (err: Error) => err instanceof NotRunningError && err.message.startsWith('no quarry serve runs: start one'));
  await assert.rejects(connect({ socket: path.join(dir, 'nowhere', 's') }), NotRunningError);
  // The socket of one that was killed stays.
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  fs.renameSync(socket, socket + '2');
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(connect({ socket: socket + '2' }), NotRunningError);
});

test('a socket that another user could have made is refused', async (t) => {
  const good = await fake(t, () => undefined);
  const refused = (socket: string, words: string): Promise<void> =>
    assert.rejects(connect({ socket }), (err: Error) => err instanceof UnsafeSocketError && err.message.includes(words), words);
  for (const mode of [0o755, 0o710, 0o701, 0o702]) {
    fs.chmodSync(path.dirname(good), mode);
    await refused(good, 'can be entered by other users: chmod 700');
  }
  fs.chmodSync(path.dirname(good), 0o700);
  const link = path.join(dir, 'link');
  fs.symlinkSync(path.dirname(good), link);
  await refused(path.join(link, 's'), 'a link to one');
  const linked = place();
  fs.symlinkSync(good, linked);
  await refused(linked, 'is no socket');
  const file = place();
  fs.writeFileSync(file, '');
  await refused(file, 'is no socket: remove it');
  const pipe = place();
  execFileSync('mkfifo', [pipe]); // which would be waited for
  await refused(pipe, 'is no socket');
  if (process.getuid?.() === 0) {
    fs.chownSync(good, 65534, 65534);
    await refused(good, "is another user's");
    fs.chownSync(path.dirname(good), 65534, 65534);
    await refused(good, "is another user's folder");
    fs.chownSync(path.dirname(good), 0, 0);
    fs.chownSync(good, 0, 0);
  } else {
    t.diagnostic('another user owns nothing here: only root can give it to one');
  }
  await assert.rejects(connect({ socket: path.join(dir, 'x'.repeat(103)) }), /too long: systems take 103 bytes/);
  await (await connect({ socket: good })).close();
});

test('there may be no quarry to ask for the socket', async () => {
  await assert.rejects(findSocket(path.join(dir, 'no-quarry')), /install it, or say where it is/);
  await assert.rejects(findSocket('false'), /does not say where it serves: install a newer one/);
});

test('a service of another protocol is told from others', async (t) => {
  const data = { service: 9, client: protocol, version: '7.0', process: 42 };
  const socket = await fake(t, ({ say }, { id }) => say({ protocol: 9, id, error: { code: -32804, message: 'end that process', data } }), false);
  await assert.rejects(connect({ socket }), (err: Error) =>
    err instanceof OtherProtocolError && err.message.includes('end that process') && err.service === 9 && err.client === protocol && err.version === '7.0' && err.process === 42);
  const silent = await fake(t, ({ say }, { id }) => say({ id, result: { protocol: 9 } }), false);
  await assert.rejects(connect({ socket: silent }), /no quarry serve/);
  const wordless = await fake(t, ({ say }, { id }) => say({ id, error: { code: -32804, message: 'no' } }), false);
  await assert.rejects(connect({ socket: wordless }), RequestError);
});

test('a service that is silent is left', async (t) => {
  hurry(t, { hello: patience.hello, every: 20, alive: 50 });
  const left = (err: Error): boolean => err instanceof ConnectionError && /says nothing for 0.05 s: it is stopped, or hangs/.test(err.message);
  const quarry = await connect({ socket: await fake(t, () => undefined) });
  patience.hello = 50; // which the fake, in this process, may take longer for
  await assert.rejects(connect({ socket: await fake(t, () => undefined, false) }), left);
  const both = [quarry.search({ query: 'a' }), quarry.status()];
  for (const one of both) {
    await assert.rejects(one, left);
  }
  await assert.rejects(quarry.status(), left, 'the connection has ended');
  await quarry.close();
});

test('a long call goes on while the service answers what it does', async (t) => {
  hurry(t, { every: 1 });
  let probes = 0;
  let search: Message | undefined;
  const socket = await fake(t, ({ say }, message) => {
    if (message.method !== 'quarry/service.status') {
      search = message;
    } else if (++probes < 6) {
      say(probes % 2 ? { id: message.id, result: {} } : { id: message.id, error: { code: -32803, message: 'busy' } });
    } else {
      say({ id: message.id, result: {} });
      say({ id: search?.id, result: answer });
    }
  });
  const quarry = await connect({ socket });
  assert.deepEqual(await quarry.search({ query: 'a' }), answer);
  assert.equal(probes, 6);
  await quarry.close();
});

test('what is no service is left, and never kept whole', async (t) => {
  hurry(t, { every: 20, alive: 50 });
  const endless = (head: string, piece: string) => ({ conn }: Peer): void => {
    const more = (): void => {
      while (piece && !conn.destroyed && conn.write(piece));
    };
    conn.on('drain', more);
    conn.write(head);
    more();
  };
  for (const [name, says] of Object.entries<(peer: Peer) => void>({
    'hangs up': ({ conn }) => conn.destroy(),
    'HTTP': endless('HTTP/1.1 400 Bad Request\r\n\r\n', '<html>'),
    'a head without end': endless('', 'a'.repeat(1 << 16)),
    'heads without end': endless('', 'A: b\r\n'.repeat(1 << 12)),
    'a long message': endless('Content-Length: 1000000000\r\n\r\n', '['.repeat(1 << 16)),
    'a long number': endless('Content-Length: 99999999999999999999\r\n\r\n', '['.repeat(1 << 16)),
    'no length': endless('Length: 2\r\n\r\n', '{}'),
    'no JSON': endless(frame('{'), ''),
    'no object': endless(frame('[]'), ''),
    'null': endless(frame('null'), ''),
    'no result': endless(frame('{"id":2}'), ''),
    'what was not understood': endless(frame('{"id":null,"error":{"code":-32700,"message":"no"}}'), ''),
    'messages without end': endless('', frame('{"method":"quarry/x"}').repeat(1 << 8)),
    'answers without end': endless('', frame('{"id":0,"result":{}}').repeat(1 << 8)),
    'questions without end': endless('', frame('{"id":1,"method":"quarry/x"}').repeat(1 << 8)),
    'progress of nothing': endless('', (frame('{"method":"$/progress","params":{"token":1}}') + frame('{"method":"quarry/index.progress"}')).repeat(1 << 8)),
  })) {
    const socket = await fake(t, (peer) => {
      peer.conn.removeAllListeners('data');
      says(peer);
    });
    const quarry = await connect({ socket, onProgress: () => undefined });
    const before = process.memoryUsage().rss;
    await assert.rejects(quarry.search({ query: 'a' }, { onResults: () => undefined }), ConnectionError, name);
    await quarry.close();
    assert.ok(process.memoryUsage().rss - before < 400 << 20, `${name}: ${process.memoryUsage().rss - before} bytes more`);
  }
});

test('messages come in any pieces', async (t) => {
  const progress: Progress[] = [];
  const said = frame('{"method":"quarry/index.progress","params":{"title":"Über","fraction":0.5,"message":"日本"}}');
  const socket = await fake(t, ({ conn }, { id }) => {
    const bytes = Buffer.from(said + said + frame(`{"id":${id},"result":{"results":null,"backend":["日本"],"total":0,"timings_ms":{}}}`));
    let at = 0;
    const more = (): void => {
      if (at < bytes.length) {
        conn.write(bytes.subarray(at, ++at), () => setImmediate(more));
      }
    };
    more();
  });
  const quarry = await connect({ socket, onProgress: (p) => progress.push(p) });
  assert.deepEqual((await quarry.search({ query: 'a' })).backend, ['日本']);
  assert.deepEqual(progress, Array(2).fill({ title: 'Über', fraction: 0.5, message: '日本' }));
  await quarry.close();
});

test('a signal ends a request, and the service is told which', async (t) => {
  const heard: Message[] = [];
  let cancelled: (() => void) | undefined;
  const socket = await fake(t, ({ say }, message) => {
    heard.push(message);
    if (message.method === '$/cancelRequest') {
      say({ id: message.params.id, error: { code: -32800, message: 'late' } });
      cancelled?.();
    } else if (message.method === 'quarry/similar') {
      say({ id: message.id, result: answer });
    }
  });
  const quarry = await connect({ socket });
  const told = new Promise<void>((resolve) => (cancelled = resolve));
  const stop = new AbortController();
  const search = quarry.search({ query: 'a' }, { signal: stop.signal });
  const other = quarry.similar({ code: 'x' }, { signal: stop.signal });
  await other;
  stop.abort(new Error('enough'));
  await assert.rejects(search, /enough/);
  await told;
  assert.deepEqual(heard.map(({ id, method, params }) => [id, method, params]), [
    [2, 'quarry/search.hybrid', { query: 'a' }], [3, 'quarry/similar', { code: 'x' }], [undefined, '$/cancelRequest', { id: 2 }],
  ]);
  await assert.rejects(quarry.search({ query: 'a' }, { signal: stop.signal }), /enough/);
  assert.equal((await quarry.similar({ code: 'x' })).total, 0, 'the connection is still good');
  assert.equal(heard.length, 4, 'what had ended already was not asked');
  await assert.rejects(connect({ socket, signal: stop.signal }), /enough/);
  const hello = connect({ socket: await fake(t, () => undefined, false), signal: AbortSignal.timeout(20) });
  await assert.rejects(hello, { name: 'TimeoutError' });
  await quarry.close();
});

test('a request that no service takes is refused here', async (t) => {
  const socket = await fake(t, ({ say }, { id, params }) => say({ id, result: { ...answer, total: params.code.length } }));
  const quarry = await connect({ socket });
  const room = (1 << 20) - JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'quarry/similar', params: { code: '' } }).length;
  assert.equal((await quarry.similar({ code: 'x'.repeat(room) })).total, room);
  await assert.rejects(quarry.similar({ code: 'x'.repeat(room + 1) }), RangeError);
  assert.equal((await quarry.similar({ code: 'x' })).total, 1);
  await quarry.close();
});

test('closing ends what is under way, once', async (t) => {
  let gone: (() => void) | undefined;
  const over = new Promise<void>((resolve) => (gone = resolve));
  const socket = await fake(t, ({ conn }) => conn.on('close', () => gone?.()));
  const quarry = await connect({ socket });
  const search = quarry.search({ query: 'a' });
  const closed = Promise.all([quarry.close(), quarry.close()]);
  await assert.rejects(search, (err: Error) => err instanceof ConnectionError && err.message.includes('this program closed'));
  await closed;
  await over;
  await assert.rejects(quarry.status(), ConnectionError);
});

test('params and results are typed', async (t) => {
  const quarry = await connect({ socket: await fake(t, ({ say }, { id }) => say({ id, result: {} })) });
  await quarry.call('quarry/index.rebuild', null);
  // @ts-expect-error: there is no such member
  await quarry.search({ querry: 'a' });
  // @ts-expect-error: a search has a query
  await quarry.call('quarry/search.hybrid', {});
  // @ts-expect-error: there is no such method
  await quarry.call('quarry/search', null);
  // @ts-expect-error: connect says it
  await quarry.call('quarry/hello', { protocol });
  const { process: number } = await quarry.status();
  // @ts-expect-error: it is a number
  assert.equal(number?.length, undefined);
  await quarry.close();
});
