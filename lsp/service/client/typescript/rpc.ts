import type { Duplex } from 'node:stream';
import { ConnectionError, RequestError } from './errors.ts';
import { Frames } from './frames.ts';
import type { Requests } from './schema.ts';

/** How long a service is waited for, in ms. Tests wait less. */
export const patience = {
  /** For a service on another machine to take a connection, and for each of its messages before it knows the device. */
  answer: 10_000,
  /** For it to take the last bytes. */
  leave: 1000,
  /** For the answer to hello. */
  hello: 5000,
  /** While requests are under way, the service is asked this often what it does, which it answers at once: one that is stopped, or hangs, does not. */
  every: 3000,
  /** For that answer. */
  alive: 5000,
};

/** The most bytes of an answer: twice what a service lets a client leave unread. */
export const longestAnswer = 64 << 20;
/** The most bytes of a request that a service takes. */
const longestRequest = 1 << 20;
/** The most bytes that wait here for the service to take them: as many requests as may be under way. */
const mostUntaken = 64 * longestRequest;

/** The request by which is asked whether the service lives. */
const probe: keyof Requests = 'quarry/service.status';

/** Who hears what the service says unasked. */
export interface Listener {
  notified(method: string, params: unknown): void;
  /** The result of a request, undefined if that is unknown. */
  asked(method: string, params: unknown): Promise<unknown> | undefined;
}

/** What a connection that does not come to hello is said to be, which depends on how it was made. */
export interface Words {
  /** Of one that is ended. */
  hungUp: string;
  /** Of one to something else. */
  stranger: string;
}

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(err: unknown): void;
}

/** JSON-RPC over a connection to a service. */
export class Rpc {
  private readonly socket: Duplex;
  private readonly words: Words;
  private readonly listener: Listener;
  private readonly frames = new Frames(longestAnswer);
  private readonly pending = new Map<number, Pending>();
  private readonly closed: Promise<void>;
  private last = 0; // the number of a request
  private greeted = false;
  private ended: ConnectionError | undefined;
  private timer: NodeJS.Timeout | undefined; // of the next probe, or of the answer to one
  private probing = 0; // the number of the probe that is not answered, 0 if there is none

  constructor(socket: Duplex, words: Words, listener: Listener) {
    this.socket = socket;
    this.words = words;
    this.listener = listener;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (piece) => this.read(piece as Buffer));
    socket.on('error', (err) => this.end(`the connection to quarry serve broke: connect again (${err.message})`, err));
    socket.on('close', () => this.end(this.greeted
      ? 'quarry serve ended the connection: start it again if it does not run, and connect again'
      : words.hungUp));
  }

  /** Says hello, which is all that may be asked before it is answered. */
  async greet(method: string, params: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    this.within(patience.hello, () => !this.greeted);
    const welcome = await this.call(method, params, signal);
    this.greeted = true;
    this.watch();
    return welcome;
  }

  /** The result of a request. A signal ends it, which the service is told. */
  call(method: string, params: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.ended) {
        throw this.ended;
      }
      const id = ++this.last;
      this.send({ jsonrpc: '2.0', id, method, params: params ?? undefined });
      const cancel = (): void => {
        this.pending.delete(id);
        this.watch();
        this.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const done = <T>(settle: (how: T) => void) => (how: T): void => {
        signal?.removeEventListener('abort', cancel);
        settle(how);
      };
      this.pending.set(id, { method, resolve: done(resolve), reject: done(reject) });
      this.watch();
    });
  }

  /** Ends the connection, and each request with it. */
  close(): Promise<void> {
    this.end('this program closed the connection to quarry serve');
    return this.closed;
  }

  private end(why: string, cause?: unknown): void {
    if (this.ended) {
      return;
    }
    this.ended = new ConnectionError(why, { cause });
    const all = [...this.pending.values()];
    this.pending.clear();
    this.watch();
    this.socket.destroy();
    for (const p of all) {
      p.reject(this.ended);
    }
  }

  /** Ends the connection after ms if it is silent then. What has come by then is read first, however long this program was busy. */
  private within(ms: number, silent: () => boolean): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => {
      if (silent()) {
        this.end(`quarry serve says nothing for ${ms / 1000} s: it is stopped, or hangs; end its process and start it again`);
      }
    }), ms).unref();
  }

  /** Has the service probed as long as requests are under way. */
  private watch(): void {
    if (this.pending.size === 0 || this.ended) {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.probing = 0;
      return;
    }
    if (!this.greeted) {
      return;
    }
    this.timer ??= setTimeout(() => {
      const id = ++this.last;
      this.probing = id;
      this.send({ jsonrpc: '2.0', id, method: probe });
      this.timer = this.within(patience.alive, () => this.probing === id);
    }, patience.every);
  }

  private send(message: object): void {
    if (this.ended) {
      return;
    }
    const text = JSON.stringify(message);
    const length = Buffer.byteLength(text);
    if (length > longestRequest) {
      throw new RangeError(`the request has ${length} bytes, and quarry serve takes ${longestRequest}: ask for less at once`);
    }
    if (this.socket.writableLength > mostUntaken) {
      this.end('quarry serve does not take what it is sent: it is stopped, or hangs; end its process and start it again');
      return;
    }
    this.socket.write(`Content-Length: ${length}\r\n\r\n${text}`);
  }

  private read(piece: Buffer): void {
    try {
      for (const body of this.frames.push(piece)) {
        this.hear(JSON.parse(body.toString()));
        if (this.ended) {
          return;
        }
      }
    } catch (err) {
      this.end(`${this.words.stranger} (${(err as Error).message})`, err);
    }
  }

  private hear(message: unknown): void {
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      throw new Error('a message is no object');
    }
    const { id, method, params, result, error } = message as Record<string, unknown>;
    if (typeof method === 'string') {
      if (id === undefined) {
        this.listener.notified(method, params);
      } else {
        this.answer(id, method, params);
      }
      return;
    }
    const failed = error as { code?: unknown; message?: unknown; data?: unknown } | null | undefined;
    if (id === null && failed) {
      this.end(`quarry serve did not understand a message: update the client (${failed.message})`);
      return;
    }
    if (this.probing !== 0 && id === this.probing) {
      this.probing = 0;
      clearTimeout(this.timer);
      this.timer = undefined;
      this.watch();
      return;
    }
    const p = this.pending.get(id as number);
    if (!p) { // it was cancelled
      return;
    }
    if (!failed && result === undefined) {
      throw new Error(`the answer to ${p.method} has no result`);
    }
    this.pending.delete(id as number);
    this.watch();
    if (failed) {
      p.reject(new RequestError(p.method, Number(failed.code), String(failed.message), failed.data));
    } else {
      p.resolve(result);
    }
  }

  private answer(id: unknown, method: string, params: unknown): void {
    const answer = this.listener.asked(method, params);
    if (!answer) {
      this.send({ jsonrpc: '2.0', id, error: { code: -32601, message: `${method} is not known here` } });
      return;
    }
    answer.then(
      (result) => this.send({ jsonrpc: '2.0', id, result }),
      (err: unknown) => this.send({ jsonrpc: '2.0', id, error: { code: -32803, message: String(err) } }),
    );
  }
}
