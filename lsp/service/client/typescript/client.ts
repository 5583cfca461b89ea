// A client of quarry serve for Node 18 and later: of one's own on Linux, macOS and FreeBSD, of another machine's as its device. docs/service.md has
// what both owe each other.

import type { Duplex } from 'node:stream';
import { dialDevice, type Credentials } from './device.ts';
import { OtherProtocolError, RequestError, ServiceError } from './errors.ts';
import { Rpc, type Listener, type Words } from './rpc.ts';
import {
  protocol, type Answer, type Hello, type Progress, type Requests, type Result, type Search, type Similar, type Span, type SpanText,
  type Status, type ToolAnswer, type Welcome,
} from './schema.ts';
import { dial } from './socket.ts';

export { pair, type Credentials } from './device.ts';
export * from './errors.ts';
export { patience } from './rpc.ts';
export * from './schema.ts';
export { findSocket } from './socket.ts';

/** The code of the error that refuses a client of another protocol, and of one that wants answers by other settings. */
export const codeOtherProtocol = -32804;
export const codeOtherSettings = -32805;

/** What a client says of itself, and what it hears unasked. */
export interface DeviceOptions extends Omit<Hello, 'protocol' | 'showDocument'> {
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
  /** Is called when work on the client's folders goes on. */
  onProgress?: (progress: Progress) => void;
  /** Opens a file that quarry/open.atSpan was asked for, and answers whether it is shown. */
  showDocument?: (params: ShowDocument) => boolean | Promise<boolean>;
}

/** The same, and where the service is. */
export interface Options extends DeviceOptions {
  /** The path of the socket. findSocket answers it. */
  socket: string;
}

/** The params of LSP's window/showDocument. Lines and characters count from 0. */
export interface ShowDocument {
  uri: string;
  takeFocus?: boolean;
  selection?: { start: { line: number; character: number }; end: { line: number; character: number } };
}

export interface CallOptions {
  /** Ends the request, which the service is told. */
  signal?: AbortSignal;
}

export interface SearchOptions extends CallOptions {
  /** Is called with each batch of results that are there before the answer. */
  onResults?: (results: Result[]) => void;
}

/** The requests that may be asked for behind hello. */
export type Method = Exclude<keyof Requests, 'quarry/hello'>;

type Query = Omit<Search, 'partialResultToken'>;

/**
 * Connects to the service and says hello.
 *
 * Fails with a NotRunningError where none listens, an UnsafeSocketError where another user could have made the socket, an OtherProtocolError where
 * the service is of another protocol, a RequestError where it refuses this client, and a ConnectionError where it does not answer.
 */
export async function connect(options: Options): Promise<Client> {
  const { socket, ...others } = options;
  others.signal?.throwIfAborted();
  return begin(await dial(socket), others, {
    hungUp: 'quarry serve hung up before hello: it serves its own user only, and few who have said no hello; try again',
    stranger: 'what listens there is no quarry serve: set service.socket to another path',
  });
}

/**
 * Connects to the service on another machine that this program was paired with, and says hello. The folders must be among those of the credentials, or
 * below.
 *
 * Fails with a NotRunningError where none listens, an OtherCertificateError where another one does, a PairingError where it does not know this device,
 * and otherwise as connect does.
 */
export async function connectDevice(credentials: Credentials, options: DeviceOptions = {}): Promise<Client> {
  return begin(await dialDevice(credentials, options.signal), options, {
    hungUp: 'quarry serve hung up before hello: it ended, or this device was revoked; connect again, which says so',
    stranger: `what answers at ${credentials.address} is no quarry serve of this version: bring both to one version of quarry`,
  });
}

/** Says hello over a connection. */
async function begin(conn: Duplex, options: DeviceOptions, words: Words): Promise<Client> {
  const { signal, onProgress, showDocument, ...says } = options;
  const batches = new Map<unknown, (results: Result[]) => void>();
  const rpc = new Rpc(conn, words, listener(batches, onProgress, showDocument));
  try {
    const hello: Hello = { ...says, protocol, showDocument: showDocument !== undefined };
    const welcome = await rpc.greet('quarry/hello', hello, signal) as Welcome;
    if (welcome?.protocol !== protocol) {
      throw new ServiceError(words.stranger);
    }
    return new Client(rpc, welcome, batches);
  } catch (err) {
    await rpc.close();
    if (err instanceof RequestError && err.code === codeOtherProtocol && isObject(err.data)) {
      throw new OtherProtocolError(err.message, err.data as unknown as OtherProtocolError);
    }
    throw err;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** What hears the service. What is not as it should be is not heard. */
function listener(batches: Map<unknown, (results: Result[]) => void>, onProgress: Options['onProgress'], showDocument: Options['showDocument']): Listener {
  return {
    notified(method, params) {
      if (!isObject(params)) {
        return;
      }
      const batch = isObject(params.value) ? params.value.results : undefined;
      try {
        if (method === 'quarry/index.progress') {
          onProgress?.(params as unknown as Progress);
        } else if (method === '$/progress' && Array.isArray(batch)) {
          batches.get(params.token)?.(batch as Result[]);
        }
      } catch (err) { // the program's own, which costs no other message
        queueMicrotask(() => {
          throw err;
        });
      }
    },
    asked(method, params) {
      if (method !== 'window/showDocument' || !showDocument || !isObject(params)) {
        return undefined;
      }
      return (async () => ({ success: await showDocument(params as unknown as ShowDocument) }))();
    },
  };
}

/** A connection to a service. Requests may be asked at the same time, up to 64. */
export class Client {
  /** What the service said of itself. */
  readonly welcome: Welcome;
  private readonly rpc: Rpc;
  private readonly batches: Map<unknown, (results: Result[]) => void>;
  private last = 0; // the token of a search

  /** For connect. */
  constructor(rpc: Rpc, welcome: Welcome, batches: Map<unknown, (results: Result[]) => void>) {
    this.rpc = rpc;
    this.welcome = welcome;
    this.batches = batches;
  }

  /** Asks for any request; params are null where it has none. Fails with a RequestError, a ConnectionError, or the signal's reason. */
  call<M extends Method>(method: M, params: Requests[M]['params'], options: CallOptions = {}): Promise<Requests[M]['result']> {
    return this.rpc.call(method, params, options.signal) as Promise<Requests[M]['result']>;
  }

  /** Finds code by every signal there is. */
  search(params: Query, options?: SearchOptions): Promise<Answer> {
    return this.find('quarry/search.hybrid', params, options);
  }

  /** search without embeddings and lexicon. */
  searchLexical(params: Query, options?: SearchOptions): Promise<Answer> {
    return this.find('quarry/search.lexical', params, options);
  }

  /** search by embeddings alone, or by the lexicon while there are none. */
  searchSemantic(params: Query, options?: SearchOptions): Promise<Answer> {
    return this.find('quarry/search.semantic', params, options);
  }

  /** Finds code like a piece of code. */
  similar(params: Similar, options?: CallOptions): Promise<Answer> {
    return this.call('quarry/similar', params, options);
  }

  /** Lines of a file in the client's folders. */
  span(params: Span, options?: CallOptions): Promise<SpanText> {
    return this.call('quarry/content.getSpan', params, options);
  }

  /** Has a folder served to this client, and answers all that are. */
  async addRoot(path: string, options?: CallOptions): Promise<string[]> {
    return (await this.call('quarry/index.addRoot', { path }, options)).roots ?? [];
  }

  /** Has a folder served to this client no longer, and answers those that are. */
  async removeRoot(path: string, options?: CallOptions): Promise<string[]> {
    return (await this.call('quarry/index.removeRoot', { path }, options)).roots ?? [];
  }

  /** What the service does. */
  status(options?: CallOptions): Promise<Status> {
    return this.call('quarry/service.status', null, options);
  }

  /** Calls a tool as quarry mcp serves it to an agent. */
  tool(name: string, args: Record<string, unknown> = {}, options?: CallOptions): Promise<ToolAnswer> {
    return this.call('quarry/tools.call', { name, arguments: args }, options);
  }

  /** Ends the connection, and each request with it. The service keeps the client's folders open for a while. */
  close(): Promise<void> {
    return this.rpc.close();
  }

  private async find(method: 'quarry/search.hybrid' | 'quarry/search.lexical' | 'quarry/search.semantic', params: Query, options: SearchOptions = {}): Promise<Answer> {
    if (!options.onResults) {
      return this.call(method, params, options);
    }
    const token = ++this.last;
    this.batches.set(token, options.onResults);
    try {
      return await this.call(method, { ...params, partialResultToken: token }, options);
    } finally {
      this.batches.delete(token);
    }
  }
}
