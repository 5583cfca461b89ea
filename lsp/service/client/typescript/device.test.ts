// A device against what is no good service. service.test.ts has the real one.

import assert from 'node:assert/strict';
import { createHash, createHmac, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, sign, verify, type KeyObject } from 'node:crypto';
import * as net from 'node:net';
import test from 'node:test';
import * as tls from 'node:tls';
import {
  ConnectionError, NotRunningError, OtherCertificateError, PairingError, ServiceError, connectDevice, pair, patience, protocol, type Client, type Credentials,
} from './client.ts';
import { Frames } from './frames.ts';

interface Test {
  after(f: () => void): void;
}

const code = '0123-4567-89AB-CDEF';
const random = Buffer.from('00443214c74254b635cf', 'hex');

/** A value of DER. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length < 0x80 ? [body.length] : body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

/** A certificate that is signed by itself, and its key and fingerprint. */
function certificate(): { key: string; cert: string; fingerprint: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kind = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex')); // ECDSA with SHA-256
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('quarry serve')))));
  const dates = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const says = der(0x30, der(0x02, Buffer.of(1)), kind, name, dates, name, publicKey.export({ type: 'spki', format: 'der' }));
  const raw = der(0x30, says, kind, der(0x03, Buffer.of(0), sign('sha256', says, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${raw.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    fingerprint: createHash('sha256').update(raw).digest(),
  };
}

const own = certificate();

/** A frame as a server sends it, or must not. */
function frame(opcode: number, payload: Buffer | string, { final = true, rsv = 0, masked = false, length = Buffer.byteLength(payload) } = {}): Buffer {
  const head = Buffer.alloc(length > 0xffff ? 10 : length > 125 ? 4 : 2);
  head[0] = (final ? 0x80 : 0) | rsv << 4 | opcode;
  head[1] = (masked ? 0x80 : 0) | (length > 0xffff ? 127 : length > 125 ? 126 : length);
  if (length > 0xffff) {
    head.writeBigUInt64BE(BigInt(length), 2);
  } else if (length > 125) {
    head.writeUInt16BE(length, 2);
  }
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), Buffer.from(payload)]);
}

function closing(status: number, reason = ''): Buffer {
  return frame(8, Buffer.concat([Buffer.from([status >> 8, status & 0xff]), Buffer.from(reason)]));
}

interface Heard {
  opcode: number;
  payload: Buffer;
  mask: string;
}

const gone = new Error('the device has gone');

/** The service's end of a WebSocket. */
class Peer {
  readonly path: string;
  readonly socket: tls.TLSSocket;
  private readonly heard: Heard[] = [];
  private rest: Buffer = Buffer.alloc(0);
  private over = false;
  private wake = (): void => undefined;

  constructor(path: string, socket: tls.TLSSocket, rest: Buffer) {
    this.path = path;
    this.socket = socket;
    socket.on('data', (piece) => this.read(piece));
    socket.on('close', () => {
      this.over = true;
      this.wake();
    });
    this.read(rest);
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  say(message: object): void {
    this.send(frame(1, JSON.stringify(message)));
  }

  /** The next frame. Throws gone if none will come. */
  async hear(): Promise<Heard> {
    for (;;) {
      const next = this.heard.shift();
      if (next) {
        return next;
      }
      if (this.over) {
        throw gone;
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async message(): Promise<Record<string, any>> {
    const { opcode, payload } = await this.hear();
    assert.equal(opcode, 1);
    return JSON.parse(payload.toString()) as Record<string, any>;
  }

  private read(piece: Buffer): void {
    let b: Buffer = this.rest = Buffer.concat([this.rest, piece]);
    for (; b.length >= 6; b = this.rest) {
      const short = b[1]! & 0x7f;
      const at = short === 127 ? 14 : short === 126 ? 8 : 6;
      if (b.length < at) {
        return;
      }
      const length = short === 127 ? Number(b.readBigUInt64BE(2)) : short === 126 ? b.readUInt16BE(2) : short;
      if (b.length < at + length) {
        return;
      }
      const mask = b.subarray(at - 4, at);
      this.heard.push({
        opcode: b[0]! & 0x80 ? b[0]! & 0x7f : -1, // no device sends half a message
        payload: Buffer.from(b.subarray(at, at + length).map((byte, i) => byte ^ mask[i & 3]!)),
        mask: b[1]! & 0x80 ? mask.toString('hex') : '',
      });
      this.rest = b.subarray(at + length);
    }
    this.wake();
  }
}

/** The head that opens a WebSocket. */
function opens(key: string): string {
  const accept = createHash('sha1').update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: quarry.1\r\n\r\n`;
}

/** Listens until the test ends. */
async function listening(t: Test, server: net.Server): Promise<string> {
  const all = new Set<net.Socket>();
  server.on('connection', (conn: net.Socket) => {
    all.add(conn);
    conn.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const conn of all) {
      conn.destroy();
    }
  });
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

/** The address of a service with the certificate own, which answers a request by a head, and then serves. The test fails where serving does. */
async function fake(t: Test, serve: (peer: Peer) => Promise<unknown>, head: (key: string) => string = opens, options: tls.TlsOptions = {}): Promise<string> {
  const server = tls.createServer({ ...own, ALPNProtocols: ['http/1.1'], ...options }, (socket) => {
    let request = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.setNoDelay();
    socket.on('data', function read(piece: Buffer) {
      request = Buffer.concat([request, piece]);
      const end = request.indexOf('\r\n\r\n');
      if (end < 0) {
        return;
      }
      socket.off('data', read);
      const text = request.toString('latin1', 0, end);
      const [, path] = /^GET (\S+) HTTP\/1\.1\r\n/.exec(text) ?? [];
      const [, key] = /\r\nSec-WebSocket-Key: (\S{24})(\r|$)/i.exec(text) ?? [];
      assert.ok(path && key && /\r\nSec-WebSocket-Protocol: quarry\.1(\r|$)/i.test(text) && !/\r\nOrigin:/i.test(text), text);
      socket.write(head(key));
      serve(new Peer(path, socket, request.subarray(end + 4))).catch((err) => {
        failed ??= err === gone ? undefined : err;
        socket.destroy();
      });
    });
  });
  let failed: unknown;
  server.on('tlsClientError', () => undefined);
  const address = await listening(t, server);
  t.after(() => assert.equal(failed, undefined, String(failed)));
  return address;
}

function half(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
}

function fromHalf(crv: string, x: unknown): KeyObject {
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv, x: Buffer.from(String(x), 'base64').toString('base64url') } });
}

function sum(...parts: (Buffer | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = Buffer.alloc(8);
    length.writeUInt32BE(Buffer.byteLength(part), 4);
    hash.update(length).update(part);
  }
  return hash.digest();
}

/** What the fake has paired, by its id. */
const known = new Map<string, KeyObject>();

/** Pairs a device by the code, as the service does. */
async function pairs(peer: Peer, secretOf = random): Promise<void> {
  assert.equal(peer.path, '/pair');
  const offer = await peer.message();
  assert.deepEqual(Object.keys(offer), ['protocol', 'share', 'key']);
  const share = generateKeyPairSync('x25519');
  const secret = diffieHellman({ privateKey: share.privateKey, publicKey: fromHalf('X25519', offer.share) });
  const transcript = sum('quarry pairing', Buffer.of(offer.protocol), Buffer.from(offer.share, 'base64'), Buffer.from(offer.key, 'base64'), half(share.publicKey), own.fingerprint);
  const proof = (of: string): string => createHmac('sha256', Buffer.from(hkdfSync('sha256', Buffer.concat([secret, secretOf]), transcript, `quarry pairing, proof of the ${of}`, 32)))
    .update(transcript).digest('base64');
  peer.say({ share: half(share.publicKey).toString('base64') });
  const said = await peer.message();
  if (secretOf === random) {
    assert.equal(said.proof, proof('device'));
  }
  const id = String(known.size);
  known.set(id, fromHalf('Ed25519', offer.key));
  peer.say({ proof: proof('service'), id, name: 'laptop', roots: ['/src'] });
}

/** Recognizes a device, as the service does. */
async function recognizes(peer: Peer): Promise<void> {
  assert.equal(peer.path, '/connect');
  const nonce = Buffer.alloc(32, 7);
  peer.say({ nonce: nonce.toString('base64'), expires: '2026-01-01T00:00:00Z' });
  const { protocol: version, id, signature } = await peer.message();
  const session = peer.socket.exportKeyingMaterial(32, 'EXPORTER-quarry-device', Buffer.alloc(0));
  const text = sum('quarry connection', Buffer.of(version), nonce, session, id, own.fingerprint);
  assert.ok(verify(null, text, known.get(id)!, Buffer.from(signature, 'base64')), 'the signature');
  peer.say({ ok: true });
}

function framed(message: object): Buffer {
  const text = JSON.stringify({ protocol, jsonrpc: '2.0', ...message });
  return Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

/** Answers hello, and hands on every other request. */
async function welcomes(peer: Peer, hear: (message: Record<string, any>, frame: Heard) => void): Promise<void> {
  const frames = new Frames(1 << 21);
  for (;;) {
    const next = await peer.hear();
    if (next.opcode === 8) {
      peer.send(frame(8, next.payload));
      peer.socket.end();
      continue;
    }
    if (next.opcode === 10) {
      continue;
    }
    assert.equal(next.opcode, 2);
    for (const body of frames.push(next.payload)) {
      const message = JSON.parse(body.toString()) as Record<string, any>;
      if (message.method === 'quarry/hello') {
        peer.send(frame(2, framed({ id: message.id, result: { protocol, version: 'test', process: 1, roots: [], methods: [] } })));
      } else {
        hear(message, next);
      }
    }
  }
}

/** Pairs, or connects and answers. */
function good(peer: Peer, hear: (message: Record<string, any>, frame: Heard) => void = () => undefined): Promise<void> {
  return peer.path === '/pair' ? pairs(peer) : recognizes(peer).then(() => welcomes(peer, hear));
}

/** The credentials of a device that is paired with the fake, for another address. */
async function paired(t: Test, address?: string): Promise<Credentials> {
  const who = await pair(await fake(t, good), code);
  return { ...who, address: address ?? who.address };
}

function hurry(t: Test, less: Partial<typeof patience>): void {
  const was = { ...patience };
  Object.assign(patience, less);
  t.after(() => Object.assign(patience, was));
}

/** Asserts that something fails with a kind of error and some words. */
function refused(done: Promise<unknown>, kind: new (...args: any[]) => Error, words: RegExp, what = ''): Promise<void> {
  return assert.rejects(done, (err: Error) => {
    assert.ok(err instanceof kind, `${what}: ${err.name}, ${err.message}`);
    assert.match(err.message, words, what);
    return true;
  });
}

const answer = { results: [], backend: ['日本'], total: 0, timings_ms: {} };

test('a device pairs by a code as a person types it, connects and searches', async (t) => {
  const asked: unknown[] = [];
  const address = await fake(t, (peer) => good(peer, ({ id, method, params }) => {
    if (method === 'quarry/search.hybrid') {
      asked.push(params);
    }
    peer.send(frame(2, framed({ id, result: answer })));
  }));
  for (const typed of [code, ' oi23 4567-89ab-cdef\n', '0L23456789abcdef']) {
    const who = await pair(address, typed);
    assert.deepEqual(Object.keys(who), ['address', 'certificate', 'id', 'name', 'roots', 'key']);
    assert.deepEqual([who.address, who.certificate, who.name, who.roots], [address, own.fingerprint.toString('base64'), 'laptop', ['/src']]);
    const quarry = await connectDevice(JSON.parse(JSON.stringify(who)) as Credentials, { client: 'test', roots: who.roots });
    assert.deepEqual(await quarry.search({ query: 'a' }), answer);
    await quarry.close();
  }
  assert.deepEqual(asked, Array(3).fill({ query: 'a' }));
  for (const wrong of ['', '1234', '0123-4567-89AB-CDE', '0123-4567-89AB-CDEU', '0123-4567-89AB-CDEF0', '０'.repeat(16), '0'.repeat(1 << 20)]) {
    await refused(pair(address, wrong), PairingError, /sixteen letters and digits, as quarry serve pair shows/);
  }
});

test('whoever does not know the code is told apart from the service', async (t) => {
  const wrong = await fake(t, (peer) => pairs(peer, Buffer.alloc(10)));
  await refused(pair(wrong, code), PairingError, /does not know the code, and may be between you and your quarry serve/);
  // One that gives the device's own proof back has none either.
  const mirror = await fake(t, async (peer) => {
    const { share } = await peer.message();
    peer.say({ share });
    const { proof } = await peer.message();
    peer.say({ proof, id: '1', name: 'laptop', roots: [] });
  });
  await refused(pair(mirror, code), PairingError, /does not know the code/);
  const proofless = await fake(t, async (peer) => {
    await peer.message();
    peer.say({ share: half(generateKeyPairSync('x25519').publicKey).toString('base64') });
    await peer.message();
    peer.say({ id: '1', name: 'laptop', roots: [] });
  });
  await refused(pair(proofless, code), PairingError, /does not know the code/);
  // X25519 makes zeros of the first of these, whatever the device's key is.
  for (const share of [Buffer.alloc(32), Buffer.alloc(31), Buffer.alloc(0)]) {
    const heard: Heard[] = [];
    const none = await fake(t, async (peer) => {
      await peer.message();
      peer.say({ share: share.toString('base64') });
      heard.push(await peer.hear());
    });
    await refused(pair(none, code), ServiceError, /no quarry serve of this version/);
    assert.deepEqual(heard.filter(({ opcode }) => opcode !== 8), [], 'no proof was given');
  }
});

test('another certificate than the one of the pairing is told nothing', async (t) => {
  let said = 0;
  const server = tls.createServer({ ...certificate(), ALPNProtocols: ['http/1.1'] }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => said++);
  });
  const who = await paired(t, await listening(t, server));
  await refused(connectDevice(who), OtherCertificateError, /another certificate .* pair again, otherwise somebody is in between/);
  assert.equal(said, 0);
});

test('credentials that are none are not used', async (t) => {
  const who = await paired(t);
  for (const wrong of [{ key: '' }, { key: who.key.slice(4) }, { certificate: '' }, { certificate: 'AAAA' }, { id: undefined }, { address: undefined }]) {
    await refused(connectDevice({ ...who, ...wrong } as Credentials), PairingError, /pair it again/, JSON.stringify(wrong));
  }
});

test('an address may be wrong', async (t) => {
  for (const address of ['', 'desk', '192.168.1.5', 'desk:', ':7417', 'desk:70000', 'desk:7417/x', 'a b:1', '::1:7417', 'desk:7\r\nX: y']) {
    await refused(pair(address, code), ServiceError, /is no address: give host:port/, address);
  }
  const free = net.createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as net.AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  await refused(pair(`127.0.0.1:${port}`, code), NotRunningError, /no quarry serve runs: start one .*--websocket/);
  await refused(pair(`[::1]:${port}`, code), ServiceError, /--websocket|nobody answers/);
  const plain = await listening(t, net.createServer((conn) => conn.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  await refused(pair(plain, code), ServiceError, /is no quarry serve of this version/);
  const old = await fake(t, good, opens, { maxVersion: 'TLSv1.2' });
  await refused(pair(old, code), ServiceError, /is no quarry serve of this version/);
  const deaf = await listening(t, net.createServer((conn) => conn.destroy()));
  await refused(pair(deaf, code), ConnectionError, /nobody answers/);
});

test('what opens no WebSocket of this protocol is left', async (t) => {
  const changed = (from: RegExp, to: string) => (key: string): string => opens(key).replace(from, to);
  for (const [name, head] of Object.entries<(key: string) => string>({
    'a wrong Accept': changed(/Accept: .*/, `Accept: ${Buffer.alloc(20).toString('base64')}`),
    'no Accept': changed(/Sec-WebSocket-Accept: .*\r\n/, ''),
    'two of them': changed(/(Sec-WebSocket-Accept: .*\r\n)/, '$1$1'),
    'an older subprotocol': changed(/quarry\.1/, 'quarry.0'),
    'no subprotocol': changed(/Sec-WebSocket-Protocol: .*\r\n/, ''),
    'an extension': changed(/Upgrade: websocket\r\n/, '$&Sec-WebSocket-Extensions: permessage-deflate\r\n'),
    'another upgrade': changed(/Upgrade: websocket/, 'Upgrade: h2c'),
    'no HTTP': () => 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
    'a header without end': () => 'HTTP/1.1 101 Switching Protocols\r\n' + 'A: b\r\n'.repeat(1 << 12),
  })) {
    await refused(pair(await fake(t, (peer) => peer.hear(), head), code), ServiceError, /is no quarry serve of this version: look at the address/, name);
  }
  for (const [says, words] of [
    ['HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\ntoo many connect to quarry serve at once: try again in a moment\n', /too many connect to quarry serve at once: try again in a moment$/],
    ['HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\na\x1b[2Jb\r\nc', /: a \[2Jb c$/],
    [opens('').replace('101 Switching Protocols', '200 OK').replace('\r\n\r\n', '\r\nContent-Length: 0\r\n\r\n'), /it answers 200/],
    ['HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n', /it answers 302/],
    ['HTTP/1.1 200 OK\r\n\r\n' + '<html>'.repeat(1 << 16), /: <html>/],
  ] as const) {
    const address = await fake(t, async (peer) => {
      if (says.includes('close')) {
        peer.socket.end();
      }
      await peer.hear();
    }, () => says);
    await assert.rejects(pair(address, code), (err: Error) => err instanceof ConnectionError && words.test(err.message) && err.message.length < 1200);
  }
});

/** What no server may send. */
const broken: Record<string, Buffer> = {
  'a masked frame': frame(1, '{}', { masked: true }),
  'a masked ping': frame(9, '', { masked: true }),
  'a bit of an extension': frame(1, '{}', { rsv: 4 }),
  'an unknown kind': frame(3, '{}'),
  'an unknown control frame': frame(11, ''),
  'the rest of no message': frame(0, '{}'),
  'a message within one': Buffer.concat([frame(2, '', { final: false }), frame(1, '', { final: false }), frame(2, '{}')]),
  'a long ping': frame(9, 'x'.repeat(126)),
  'half a ping': frame(9, '', { final: false }),
  'half a code': frame(8, 'x'),
  'the wrong length': Buffer.concat([Buffer.from([0x81, 127]), Buffer.alloc(8, 0xff)]),
};

test('before a device is known its messages are short, and JSON', async (t) => {
  const pieces = (n: number, last: boolean): Buffer => Buffer.concat(Array.from({ length: n }, (_, i) => frame(i ? 0 : 1, ' '.repeat(1000), { final: last && i === n - 1 })));
  for (const [name, bytes] of Object.entries({
    ...broken,
    'a binary message': frame(2, '{}'),
    'a long message': frame(1, '', { length: 4097 }),
    'a long one in pieces': pieces(5, true),
    'one without end': pieces(5, false),
    'no JSON': frame(1, 'quarry'),
    'no text': frame(1, ''),
    'no object': frame(1, '1'),
    'null': frame(1, 'null'),
    'nothing of it': frame(1, '{}'),
    'another type': frame(1, '{"share":1,"nonce":1}'),
  })) {
    for (const path of ['pair', 'connect']) {
      const address = await fake(t, async (peer) => {
        peer.send(bytes);
        for (;;) {
          await peer.hear();
        }
      });
      await refused(path === 'pair' ? pair(address, code) : connectDevice(await paired(t, address)), ServiceError, /is no quarry serve of this version/, `${name} at ${path}`);
    }
  }
  // What is as it should be may come in any pieces, with pings between.
  const address = await fake(t, async (peer) => {
    const offered = peer.message();
    peer.send(frame(9, 'are you there'));
    await offered;
    assert.deepEqual({ ...await peer.hear(), mask: '' }, { opcode: 10, payload: Buffer.from('are you there'), mask: '' });
    const text = JSON.stringify({ share: half(generateKeyPairSync('x25519').publicKey).toString('base64') }).padEnd(4096);
    const bytes = Buffer.concat([frame(10, 'unasked'), frame(1, text.slice(0, 9), { final: false }), frame(9, ''), frame(0, '', { final: false }), frame(0, text.slice(9))]);
    for (const byte of bytes.subarray(0, 64)) {
      await new Promise((resolve) => peer.socket.write(Buffer.of(byte), resolve));
    }
    peer.send(bytes.subarray(64));
    assert.equal((await peer.hear()).opcode, 10);
    await peer.message();
    peer.send(closing(1008, 'enough'));
  });
  await refused(pair(address, code), PairingError, /enough$/);
});

test('a service that closes says why', async (t) => {
  for (const [end, kind, words] of [
    [closing(1008, 'the code is wrong, old or used: ask for another one'), PairingError, /quarry serve at 127\S+ says: the code is wrong, old or used: ask for another one$/],
    [closing(1008, 'a\x1b[2Jb\u202e\nc'), PairingError, /says: a \[2Jb c$/],
    [closing(1011, 'it failed'), ConnectionError, /says: it failed$/],
    [closing(1008), ConnectionError, /hung up: try again/],
    [frame(8, ''), ConnectionError, /hung up: try again/],
    [Buffer.alloc(0), ConnectionError, /hung up: try again/],
  ] as const) {
    for (const path of ['pair', 'connect']) {
      const echoed: number[] = [];
      const address = await fake(t, async (peer) => {
        peer.socket.end(end);
        for (;;) {
          const { opcode, payload } = await peer.hear();
          if (opcode === 8) {
            echoed.push(payload.readUInt16BE(0));
          }
        }
      });
      await refused(path === 'pair' ? pair(address, code) : connectDevice(await paired(t, address)), kind, words);
    }
  }
  const address = await fake(t, async (peer) => {
    if (peer.path === '/pair') {
      return pairs(peer);
    }
    peer.say({ nonce: 'AAAA' });
    await peer.message();
    peer.say({ ok: false });
    await peer.hear();
  });
  await refused(connectDevice(await paired(t, address)), PairingError, /does not know this device: pair it again/);
});

test('a service on another machine that is silent is left, and a signal ends the wait', async (t) => {
  const silent: Record<string, string> = {
    'before TLS': await listening(t, net.createServer(() => undefined)),
    'before HTTP': await fake(t, (peer) => peer.hear(), () => ''),
    'in a header': await fake(t, (peer) => peer.hear(), () => 'HTTP/1.1 101 Switching Protocols\r\nUpgr'),
    'in what says no': await fake(t, (peer) => peer.hear(), () => 'HTTP/1.1 403 Forbidden\r\nContent-Length: 900\r\n\r\nno'),
    'before a message': await fake(t, async (peer) => {
      for (;;) {
        await peer.hear();
      }
    }),
    'but for pings': await fake(t, async (peer) => {
      const all = setInterval(() => peer.send(frame(9, '')), 1).unref(); // Node 18 does not always say that a socket has closed
      try {
        for (;;) {
          await peer.hear();
        }
      } finally {
        clearInterval(all);
      }
    }),
  };
  const who = await paired(t);
  for (const [when, address] of Object.entries(silent)) {
    await assert.rejects(pair(address, code, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' }, when);
    await assert.rejects(connectDevice({ ...who, address }, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' }, when);
    await assert.rejects(pair(address, code, { signal: AbortSignal.abort(new Error('enough')) }), /enough/, when);
  }
  hurry(t, { answer: 100 });
  for (const [when, address] of Object.entries(silent)) {
    await refused(pair(address, code), ConnectionError, /says nothing for 0.1 s: it is stopped, hangs, or is kept from this machine/, when);
    await refused(connectDevice({ ...who, address }), ConnectionError, /says nothing for 0.1 s/, when);
  }
});

/** A device that is known, and what the service does when it is asked for anything. */
async function connected(t: Test, asked: (peer: Peer, message: Record<string, any>, frame: Heard) => void): Promise<Client> {
  const address = await fake(t, (peer) => good(peer, (message, frame) => asked(peer, message, frame)));
  return connectDevice(await pair(address, code));
}

test('a connection of a device is a stream of binary messages', async (t) => {
  // Answers in any pieces, with pings between, and the end behind the last of them.
  const quarry = await connected(t, (peer, { id }) => {
    const bytes = framed({ id, result: answer });
    const frames = [...bytes].map((byte, i) => frame(i ? 0 : 2, Buffer.of(byte), { final: i === bytes.length - 1 }));
    peer.send(frames[0]!, frame(9, 'x'), frame(0, '', { final: false }), ...frames.slice(1), frame(2, ''), closing(1001, 'the service ends'));
  });
  assert.deepEqual(await quarry.search({ query: 'a' }), answer);
  await refused(quarry.status(), ConnectionError, /connect again \(the service ends\)/);
  await quarry.close();
  const cut = await connected(t, (peer) => peer.socket.destroy());
  await refused(cut.status(), ConnectionError, /connect again/);
  await cut.close();
  const ended = await connected(t, (peer) => peer.send(frame(8, '')));
  await refused(ended.status(), ConnectionError, /ended the connection: start it again if it does not run/);
  await ended.close();
});

test('each frame of a device is whole, and masked by itself', async (t) => {
  const heard: Heard[] = [];
  const quarry = await connected(t, (peer, { id, params }, as) => {
    heard.push(as);
    peer.send(frame(2, framed({ id, result: { ...answer, total: params?.code.length } }))); // a probe has no params
  });
  const head = framed({ id: 2, method: 'quarry/similar', params: { code: '' } }).length - '"protocol":1,'.length;
  for (const length of [head + 1, 125, 126, 65535, 65536, 1 << 20]) {
    const size = Math.max(1, length - head);
    assert.equal((await quarry.similar({ code: 'x'.repeat(size) })).total, size);
  }
  assert.equal(new Set(heard.map(({ mask }) => mask)).size, heard.length);
  assert.ok(heard.every(({ mask, opcode }) => mask !== '' && opcode === 2));
  await quarry.close();
});

test('what breaks the rules behind hello is left, and never kept', async (t) => {
  hurry(t, { every: 20, alive: 100, leave: 50 });
  const endless = (piece: Buffer) => (peer: Peer): void => {
    const more = (): void => {
      while (!peer.socket.destroyed && peer.socket.write(piece));
    };
    peer.socket.on('drain', more);
    more();
  };
  const once = (bytes: Buffer) => (peer: Peer): void => peer.send(bytes);
  const all: Record<string, (peer: Peer) => void> = {
    'a text': once(frame(1, '{}')),
    'a message longer than any answer': once(frame(2, '', { length: (64 << 20) + 4097 })),
    'a long message': endless(Buffer.concat([frame(2, 'x'.repeat(1 << 16), { length: 64 << 20 })])),
    'messages without end': endless(frame(2, 'Content-Length: 60000000\r\n\r\n' + '['.repeat(1 << 16))),
    'pieces without end': endless(frame(2, '', { final: false })),
    'pings without end': endless(frame(9, 'x'.repeat(125))),
    'empty messages without end': endless(frame(2, '')),
  };
  for (const [name, bytes] of Object.entries(broken)) {
    all[name] = once(bytes);
  }
  for (const [name, says] of Object.entries(all)) {
    const quarry = await connected(t, (peer) => {
      peer.socket.removeAllListeners('data'); // it reads nothing more, either
      peer.socket.pause();
      says(peer);
    });
    const before = process.memoryUsage().rss;
    await refused(quarry.search({ query: 'a' }), ConnectionError, /connect again|start it again|bring both to one version/, name);
    await quarry.close();
    assert.ok(process.memoryUsage().rss - before < 400 << 20, `${name}: ${process.memoryUsage().rss - before} bytes more`);
  }
});

test('closing says so, and waits for nobody', async (t) => {
  let said: Heard | undefined;
  const address = await fake(t, async (peer) => {
    await recognizes(peer);
    const hello = await peer.hear();
    peer.send(frame(2, framed({ id: 1, result: { protocol, version: 'test', process: 1, roots: [], methods: [] } })));
    assert.equal(hello.opcode, 2);
    for (;;) {
      said = await peer.hear(); // and neither answers nor hangs up
    }
  });
  const quarry = await connectDevice(await paired(t, address));
  const search = quarry.search({ query: 'a' });
  const began = Date.now();
  const closed = Promise.all([quarry.close(), quarry.close()]);
  await refused(search, ConnectionError, /this program closed/);
  await closed;
  assert.ok(Date.now() - began < 5000);
  assert.deepEqual([said?.opcode, said?.payload.readUInt16BE(0)], [8, 1000]);
});
