/** The most that the head of a message may have, in bytes. A service's has one line. */
const longestHead = 4096;

/** Cuts a stream into messages as LSP frames them: a head with Content-Length, an empty line, the body. It keeps no more than one message. */
export class Frames {
  private parts: Buffer[] = [];
  private size = 0; // of the parts
  private body = -1; // how long the body is that the parts belong to, -1 in a head
  private readonly longest: number;

  /** Refuses a body of more bytes than longest. */
  constructor(longest: number) {
    this.longest = longest;
  }

  /** The bodies that a piece of the stream completes. Throws where it is no stream of messages. */
  *push(piece: Buffer): Generator<Buffer, void> {
    this.parts.push(piece);
    this.size += piece.length;
    for (;;) {
      if (this.body < 0) {
        const all = this.join();
        const end = all.indexOf('\r\n\r\n');
        if (end > longestHead || (end < 0 && all.length > longestHead)) {
          throw new Error('the head of a message does not end');
        }
        if (end < 0) {
          return;
        }
        this.body = this.lengthIn(all.toString('latin1', 0, end));
        this.keep(all.subarray(end + 4));
      }
      if (this.size < this.body) {
        return;
      }
      const all = this.join();
      const body = all.subarray(0, this.body);
      this.keep(all.subarray(this.body));
      this.body = -1;
      yield body;
    }
  }

  private join(): Buffer {
    if (this.parts.length !== 1) {
      this.parts = [Buffer.concat(this.parts, this.size)];
    }
    return this.parts[0]!;
  }

  private keep(rest: Buffer): void {
    this.parts = [rest];
    this.size = rest.length;
  }

  private lengthIn(head: string): number {
    let length = -1;
    for (const line of head.split('\r\n')) {
      const [, name, value] = /^([A-Za-z-]+): *(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) {
        throw new Error('a message has no head');
      }
      if (name.toLowerCase() === 'content-length' && /^\d{1,12}$/.test(value)) {
        length = Number(value);
      }
    }
    if (length < 0) {
      throw new Error('a message does not say how long it is');
    }
    if (length > this.longest) {
      throw new Error(`a message of ${length} bytes is longer than ${this.longest}`);
    }
    return length;
  }
}
