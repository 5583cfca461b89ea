// A WebSocket (RFC 6455) to a quarry serve on another machine, over TLS 1.3. Node 18 has none of its own, and that of later ones takes any
// certificate that an authority vouches for, which nobody does for this one.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as http from 'node:http';
import { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { ConnectionError, NotRunningError, OtherCertificateError, PairingError, ServiceError } from './errors.ts';
import { longestAnswer, patience } from './rpc.ts';

/** What both ends call this version of how devices pair and connect. */
const subprotocol = 'quarry.1';
/** The most bytes of a message before the device is known, and of the header of the answer that opens a WebSocket. */
const longestBefore = 4 << 10;
const longestHeader = 8 << 10;
/** The most bytes of a message from then on: those of an answer and of its head. */
const longestMessage = longestAnswer + longestBefore;

const opText = 1, opBinary = 2, opClose = 8, opPing = 9, opPong = 10;

/** Some bytes of a message, or a whole control frame. */
interface Piece {
  opcode: number;
  bytes: Buffer;
  /** Whether the message ends with it. */
  last: boolean;
}

/** Cuts what a server sends into pieces of messages. It keeps a frame's head and a control frame at most, and throws where there is no such frame. */
export class Incoming {
  /** The most bytes of a message. */
  longest: number;
  private rest: Buffer = Buffer.alloc(0);
  private message = 0; // the opcode of the message that goes on, 0 between two
  private size = 0; // of that message
  private left = 0; // of the frame's payload
  private final = false; // whether the frame is the message's last

  constructor(longest: number) {
    this.longest = longest;
  }

  push(bytes: Buffer): void {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
  }

  /** The next piece of what has been pushed, undefined if there is no whole one yet. */
  next(): Piece | undefined {
    while (this.left === 0) {
      const control = this.head();
      if (control !== 'data') {
        return control;
      }
      if (this.left === 0 && this.final) { // an empty frame, which ends its message
        return this.piece(Buffer.alloc(0));
      }
    }
    return this.rest.length === 0 ? undefined : this.piece(this.cut(Math.min(this.left, this.rest.length)));
  }

  /** Begins a frame of data, or answers a control frame. */
  private head(): 'data' | Piece | undefined {
    const b = this.rest;
    if (b.length < 2) {
      return undefined;
    }
    const final = (b[0]! & 0x80) !== 0;
    const opcode = b[0]! & 0x0f;
    const short = b[1]! & 0x7f;
    if (b[0]! & 0x70) {
      throw new Error('a frame of an extension that nobody asked for');
    }
    if (b[1]! & 0x80) {
      throw new Error('a server that masks a frame');
    }
    if (opcode >= opClose) {
      if (opcode > opPong || !final || short > 125) {
        throw new Error('no such control frame');
      }
      if (b.length < 2 + short) {
        return undefined;
      }
      this.cut(2);
      return { opcode, bytes: this.cut(short), last: true };
    }
    if (opcode > opBinary || (opcode === 0) !== (this.message !== 0)) {
      throw new Error('a frame that is out of place');
    }
    const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (b.length < 2 + wide) {
      return undefined;
    }
    const length = wide === 0 ? short : wide === 2 ? b.readUInt16BE(2) : Number(b.readBigUInt64BE(2));
    this.message ||= opcode;
    this.size += length;
    if (this.size > this.longest) {
      throw new Error(`a message of more than ${this.longest} bytes`);
    }
    this.cut(2 + wide);
    this.left = length;
    this.final = final;
    return 'data';
  }

  private piece(bytes: Buffer): Piece {
    this.left -= bytes.length;
    const piece = { opcode: this.message, bytes, last: this.left === 0 && this.final };
    if (piece.last) {
      this.message = 0;
      this.size = 0;
    }
    return piece;
  }

  private cut(n: number): Buffer {
    const bytes = this.rest.subarray(0, n);
    this.rest = this.rest.subarray(n);
    return bytes;
  }
}

/** A frame as a client sends it: a whole message, or a control frame, masked. */
export function outgoing(opcode: number, payload: Buffer): Buffer {
  const wide = payload.length > 0xffff ? 8 : payload.length > 125 ? 2 : 0;
  const frame = Buffer.allocUnsafe(2 + wide + 4 + payload.length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (wide === 8 ? 127 : wide === 2 ? 126 : payload.length);
  if (wide === 8) {
    frame.writeBigUInt64BE(BigInt(payload.length), 2);
  } else if (wide === 2) {
    frame.writeUInt16BE(payload.length, 2);
  }
  const mask = randomBytes(4);
  mask.copy(frame, 2 + wide);
  for (let i = 0, at = 6 + wide; i < payload.length; i++, at++) {
    frame[at] = payload[i]! ^ mask[i & 3]!;
  }
  return frame;
}

/** The words of another machine, without what a terminal would obey. */
function plain(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').trim();
}

/**
 * A WebSocket. Before the device is known, both ends say and hear one message of JSON after the other; from then on it is a stream of bytes, as a
 * socket is. Nothing is read before somebody waits for it.
 */
export class WebSocket extends Duplex {
  /** The fingerprint of the certificate that the other end has: SHA-256 over the whole of it. */
  readonly certificate: Buffer;
  private readonly address: string;
  private readonly socket: tls.TLSSocket;
  private readonly incoming = new Incoming(longestBefore);
  private known = false;
  private waiting: { resolve(message: unknown): void; reject(err: unknown): void } | undefined; // who hears
  private parts: Buffer[] = []; // of the message that is heard
  private flows = false; // whether the stream takes more
  private over: Error | undefined; // why nothing will come any more
  private leave = 1000; // the code by which this end closes
  private ponging = false;
  private ping: Buffer | undefined; // the last one that is not answered

  /** For open. */
  constructor(address: string, socket: tls.TLSSocket, certificate: Buffer) {
    super();
    this.address = address;
    this.socket = socket;
    this.certificate = certificate;
    this.on('error', () => undefined); // who hears is told, and so is who reads
    socket.on('readable', () => this.pull());
    socket.on('error', (err) => this.finish(this.known ? err : new ConnectionError(`the connection to ${address} broke: try again (${err.message})`, { cause: err })));
    for (const end of ['end', 'close']) {
      socket.on(end, () => this.finish(undefined));
    }
  }

  /** A key of the TLS session, which the other end has, too, and no other connection. */
  session(): Buffer {
    return this.socket.exportKeyingMaterial(32, 'EXPORTER-quarry-device', Buffer.alloc(0));
  }

  /** Sends a message before the device is known. */
  say(message: object): void {
    this.socket.write(outgoing(opText, Buffer.from(JSON.stringify(message))));
  }

  /** The next message before the device is known. Fails with a PairingError where the service closes for a reason. */
  hear(signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    return inTime(this.address, signal, (resolve, reject) => {
      this.waiting = {
        resolve: (message) => {
          this.waiting = undefined;
          if (typeof message === 'object' && message !== null) {
            resolve(message as Record<string, unknown>);
          } else {
            reject(stranger(this.address));
          }
        },
        reject,
      };
      this.pull();
      if (this.over) {
        reject(this.over);
      }
    });
  }

  /** Ends the time of messages: from now on this is a stream of bytes. */
  begin(): this {
    this.known = true;
    this.incoming.longest = longestMessage;
    return this;
  }

  override _read(): void {
    this.flows = true;
    this.pull();
  }

  override _write(bytes: Buffer, _encoding: string, done: (err?: Error | null) => void): void {
    this.socket.write(outgoing(opBinary, bytes), done);
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    this.finish(err ?? undefined);
    if (this.socket.destroyed) {
      done(err);
      return;
    }
    const code = Buffer.alloc(2);
    code.writeUInt16BE(this.leave);
    this.socket.end(outgoing(opClose, code));
    const timer = setTimeout(() => this.socket.destroy(), patience.leave);
    this.socket.once('close', () => {
      clearTimeout(timer);
      done(err);
    });
    this.pull(); // what still comes, so that its end is seen
  }

  /** Reads as long as somebody waits for what comes. */
  private pull(): void {
    try {
      while (!this.over && (this.known ? this.flows : this.waiting)) {
        const piece = this.incoming.next();
        if (piece) {
          this.hearPiece(piece);
          continue;
        }
        const bytes = this.socket.read() as Buffer | null;
        if (!bytes) {
          return;
        }
        this.incoming.push(bytes);
      }
    } catch (err) {
      this.leave = 1002;
      this.finish(stranger(this.address, err));
    }
    while (this.over && this.socket.read() !== null);
  }

  private hearPiece({ opcode, bytes, last }: Piece): void {
    switch (opcode) {
      case opPing:
        this.ping = bytes;
        this.pong();
        return;
      case opPong:
        return;
      case opClose:
        this.hearClose(bytes);
        return;
    }
    if (opcode !== (this.known ? opBinary : opText)) {
      throw new Error('a message of the wrong kind');
    }
    if (this.known) {
      if (bytes.length > 0) {
        this.flows = this.push(bytes);
      }
      return;
    }
    this.parts.push(bytes);
    if (last) {
      const text = Buffer.concat(this.parts).toString();
      this.parts = [];
      this.waiting?.resolve(JSON.parse(text));
    }
  }

  /** Answers the last ping, when the answer to the one before has been taken: a server that reads none has no heap of them here. */
  private pong(): void {
    if (this.ponging || !this.ping) {
      return;
    }
    this.ponging = true;
    this.socket.write(outgoing(opPong, this.ping), () => {
      this.ponging = false;
      this.pong();
    });
    this.ping = undefined;
  }

  /** Hears why the other end closes. */
  private hearClose(bytes: Buffer): void {
    if (bytes.length === 1) {
      throw new Error('half a code');
    }
    const code = bytes.length > 0 ? bytes.readUInt16BE(0) : 1000;
    const reason = plain(bytes.toString('utf8', 2));
    this.leave = code;
    if (!reason) {
      this.finish(undefined);
    } else if (this.known) {
      this.finish(new Error(reason));
    } else {
      const said = `quarry serve at ${this.address} says: ${reason}`;
      this.finish(code === 1008 ? new PairingError(said) : new ConnectionError(said));
    }
  }

  /** Nothing will come any more, for a reason or as connections end. */
  private finish(why: Error | undefined): void {
    if (this.over) {
      return;
    }
    this.over = why ?? new ConnectionError(`quarry serve at ${this.address} hung up: try again`);
    this.waiting?.reject(this.over);
    if (this.known && !this.destroyed) {
      this.once('end', () => this.destroy(why)); // behind what has come before
      this.push(null);
    }
  }
}

/** What answers at an address and is no service, or one of another version. */
export function stranger(address: string, cause?: unknown): ServiceError {
  const why = cause instanceof Error ? ` (${plain(cause.message)})` : '';
  return new ServiceError(`what answers at ${address} is no quarry serve of this version: look at the address, and bring both to one version of quarry${why}`, { cause });
}

/** Waits for the other end as long as patience allows, and no longer than a signal. What has come by then is read first, however long this program was busy. */
function inTime<T>(address: string, signal: AbortSignal | undefined, work: (resolve: (result: T) => void, reject: (err: unknown) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const done = <A>(settle: (how: A) => void) => (how: A): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      settle(how);
    };
    const fail = done(reject);
    const stop = (): void => fail(signal?.reason);
    const silent = `quarry serve at ${address} says nothing for ${patience.answer / 1000} s: it is stopped, hangs, or is kept from this machine; look whether it runs there`;
    const timer = setTimeout(() => setImmediate(() => fail(new ConnectionError(silent))), patience.answer);
    signal?.addEventListener('abort', stop, { once: true });
    work(done(resolve), fail);
  });
}

/**
 * Opens a WebSocket to a path of the service at an address, which has the certificate with the fingerprint pinned, or any if there is none.
 *
 * Fails with a NotRunningError where nobody listens, an OtherCertificateError, a ConnectionError where there is no answer, or one that says why not,
 * and a ServiceError where it is no service.
 */
export async function open(address: string, path: string, pinned: Buffer | undefined, signal: AbortSignal | undefined): Promise<WebSocket> {
  const [, v6, name, port] = /^(?:\[([\da-fA-F:.]+(?:%[\w.-]+)?)\]|([\w.-]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = v6 ?? name;
  if (host === undefined || Number(port) > 0xffff) {
    throw new ServiceError(`${JSON.stringify(address)} is no address: give host:port, as quarry serve pair shows it`);
  }
  signal?.throwIfAborted();
  const socket = tls.connect({
    host, port: Number(port), servername: 'quarry', minVersion: 'TLSv1.3', ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: false, // nobody vouches for the certificate but the code, once, and the pin
  });
  try {
    return await inTime(address, signal, (resolve, reject) => {
      socket.once('error', (err) => reject(failure(address, err)));
      socket.once('secureConnect', () => {
        const certificate = createHash('sha256').update(socket.getPeerX509Certificate()?.raw ?? '').digest();
        if (pinned && !same(certificate, pinned)) {
          reject(new OtherCertificateError(address));
          return;
        }
        upgrade(address, path, socket, () => resolve(new WebSocket(address, socket, certificate)), reject);
      });
    });
  } catch (err) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw err;
  }
}

/** Whether two digests are the same, without telling by the time it takes where they differ. */
export function same(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Has the other end make a WebSocket of a connection. */
function upgrade(address: string, path: string, socket: tls.TLSSocket, opened: () => void, reject: (err: unknown) => void): void {
  const key = randomBytes(16).toString('base64');
  const request = http.request({
    createConnection: () => socket, path, maxHeaderSize: longestHeader, setHost: false,
    headers: {
      'Host': address, 'Connection': 'Upgrade', 'Upgrade': 'websocket',
      'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key, 'Sec-WebSocket-Protocol': subprotocol,
    },
  });
  request.on('error', (err) => reject(failure(address, err)));
  request.once('upgrade', (answer, _socket, head) => {
    const says = (name: string): string => String(answer.headers[name] ?? '');
    const accept = createHash('sha1').update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
    if (answer.statusCode !== 101 || says('upgrade').toLowerCase() !== 'websocket' || !/(^|,)\s*upgrade\s*(,|$)/i.test(says('connection'))
        || says('sec-websocket-accept') !== accept || says('sec-websocket-protocol') !== subprotocol || says('sec-websocket-extensions') !== '') {
      reject(stranger(address));
      return;
    }
    if (head.length > 0) {
      socket.unshift(head);
    }
    opened();
  });
  request.once('response', (answer) => {
    let said = '';
    const told = (): void => reject(new ConnectionError(`connect to quarry serve at ${address}: ${plain(said.slice(0, 1 << 10)) || `it answers ${answer.statusCode}, and is perhaps none`}`));
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      said += text;
      if (said.length > 1 << 10) {
        told();
      }
    });
    answer.on('error', told);
    answer.on('end', told);
  });
  request.end();
}

/** What an error of the system says of an address. */
function failure(address: string, err: NodeJS.ErrnoException): ServiceError {
  const code = err.code ?? '';
  if (code === 'ECONNREFUSED') {
    return new NotRunningError(address, `${code}; it takes devices if it is started with --websocket`, err);
  }
  if (code === 'EPROTO' || /^(ERR_|HPE_)/.test(code)) { // of TLS, and of HTTP
    return stranger(address, err);
  }
  return new ConnectionError(`nobody answers at ${address}: give the address that quarry serve pair shows, from a network that reaches it (${err.message})`, { cause: err });
}
