// A device: a program that a quarry serve on another machine knows, once by a code that the user carries from one to the other, and from then on by a
// signature for each connection. docs/service.md has what both prove.

import { createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, sign, type KeyObject } from 'node:crypto';
import { PairingError } from './errors.ts';
import { open, same, stranger, type WebSocket } from './websocket.ts';

/** The version of how devices pair and connect. */
const version = 1;

/**
 * What a device keeps of its pairing, as JSON in the form in which `quarry serve join` keeps it. Whoever has it is the device: keep it in a file of
 * the user's alone.
 */
export interface Credentials {
  /** Of the service, host:port. */
  address: string;
  /** SHA-256 of the only certificate that is taken, in Base64. */
  certificate: string;
  id: string;
  /** What the user has called the device. */
  name: string;
  /** The folders that it may search in. */
  roots: string[];
  /** The seed of its Ed25519 key, in Base64. */
  key: string;
}

/**
 * Makes this program a device of the service at an address, by a code of `quarry serve pair`.
 *
 * Fails with a PairingError where the code is not the one that waits there, or whoever answers does not know it, a NotRunningError where nobody
 * listens, and otherwise with a ConnectionError, a ServiceError, or the signal's reason.
 */
export async function pair(address: string, code: string, options: { signal?: AbortSignal } = {}): Promise<Credentials> {
  const { signal } = options;
  const random = randomOf(code);
  const share = generateKeyPairSync('x25519');
  const key = generateKeyPairSync('ed25519');
  const offer = { share: half(share.publicKey), key: half(key.publicKey) };
  // Any certificate will do: that it is the service's is what the code proves.
  const ws = await open(address, '/pair', undefined, signal);
  try {
    ws.say({ protocol: version, share: offer.share.toString('base64'), key: offer.key.toString('base64') });
    const answer = bytes((await ws.hear(signal)).share);
    const secret = exchange(share.privateKey, answer);
    if (!secret) {
      throw stranger(address);
    }
    const transcript = sum('quarry pairing', Buffer.of(version), offer.share, offer.key, answer, ws.certificate);
    const proof = (of: 'device' | 'service'): Buffer => {
      const mac = hkdfSync('sha256', Buffer.concat([secret, random]), transcript, `quarry pairing, proof of the ${of}`, 32);
      return createHmac('sha256', Buffer.from(mac)).update(transcript).digest();
    };
    ws.say({ proof: proof('device').toString('base64') });
    const paired = await ws.hear(signal);
    if (!same(proof('service'), bytes(paired.proof))) {
      throw new PairingError(`what answers at ${address} does not know the code, and may be between you and your quarry serve: do not use it`);
    }
    const { id, name, roots } = paired;
    if (typeof id !== 'string' || typeof name !== 'string' || !Array.isArray(roots)) {
      throw stranger(address);
    }
    const seed = Buffer.from(key.privateKey.export({ format: 'jwk' }).d!, 'base64url');
    return { address, certificate: ws.certificate.toString('base64'), id, name, roots: roots.map(String), key: seed.toString('base64') };
  } finally {
    ws.destroy();
  }
}

/** A connection to the service that this program was paired with, which knows it. */
export async function dialDevice(who: Credentials, signal: AbortSignal | undefined): Promise<WebSocket> {
  const seed = bytes(who.key), certificate = bytes(who.certificate);
  if (seed.length !== 32 || certificate.length !== 32 || typeof who.id !== 'string' || typeof who.address !== 'string') {
    throw new PairingError('these are no credentials of a device: pair it again');
  }
  const ws = await open(who.address, '/connect', certificate, signal);
  try {
    const nonce = bytes((await ws.hear(signal)).nonce);
    if (nonce.length === 0) {
      throw stranger(who.address);
    }
    const text = sum('quarry connection', Buffer.of(version), nonce, ws.session(), Buffer.from(who.id), certificate);
    ws.say({ protocol: version, id: who.id, signature: sign(null, text, keyOf(seed)).toString('base64') });
    if ((await ws.hear(signal)).ok !== true) {
      throw new PairingError(`the service at ${who.address} does not know this device: pair it again`);
    }
    return ws.begin();
  } catch (err) {
    ws.destroy();
    throw err;
  }
}

/** Bytes of a message, which are Base64, or none. */
function bytes(text: unknown): Buffer {
  return Buffer.from(typeof text === 'string' ? text : '', 'base64');
}

/** Those of Crockford, none of which looks like another. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The random part of a code as a person has typed it: 80 bits. */
function randomOf(code: string): Buffer {
  const text = code.toUpperCase().replace(/[-\s]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  if (text.length !== 16 || [...text].some((letter) => !letters.includes(letter))) {
    throw new PairingError('this is no code: it is sixteen letters and digits, as quarry serve pair shows them');
  }
  let all = 0n;
  for (const letter of text) {
    all = all << 5n | BigInt(letters.indexOf(letter));
  }
  return Buffer.from(all.toString(16).padStart(20, '0'), 'hex');
}

/** The public half of a key of Curve25519: 32 bytes. */
function half(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
}

/** The private key of Ed25519 that a seed makes. */
function keyOf(seed: Buffer): KeyObject {
  const head = Buffer.from('302e020100300506032b657004220420', 'hex'); // of PKCS #8 (RFC 8410)
  return createPrivateKey({ key: Buffer.concat([head, seed]), format: 'der', type: 'pkcs8' });
}

/** What X25519 makes of one's own key and the other's share, undefined if that is none, or one that makes the same of every key. */
function exchange(own: KeyObject, share: Buffer): Buffer | undefined {
  try {
    const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'X25519', x: share.toString('base64url') } });
    const secret = diffieHellman({ privateKey: own, publicKey });
    return secret.some((byte) => byte !== 0) ? secret : undefined;
  } catch {
    return undefined;
  }
}

/** The digest of some parts, each with its length, so that no two lists have the same. */
function sum(what: string, ...parts: Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of [Buffer.from(what), ...parts]) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(part.length));
    hash.update(length).update(part);
  }
  return hash.digest();
}
