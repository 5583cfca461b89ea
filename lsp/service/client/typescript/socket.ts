// Where the service listens, and whether it can be another user's.

import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import * as net from 'node:net';
import * as path from 'node:path';
import { ConnectionError, NotRunningError, ServiceError, UnsafeSocketError } from './errors.ts';

/** The longest path of a socket that every system takes, in bytes. Node connects to the first part of a longer one. */
const longest = 103;

/** The path of the user's socket, as the quarry of the PATH, or at a path, has it by its settings. */
export function findSocket(quarry = 'quarry'): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(quarry, ['serve', '--status', '--json'], { timeout: 10_000 }, (err, stdout, stderr) => {
      if (err?.code === 'ENOENT') {
        reject(new ServiceError(`there is no ${quarry}: install it, or say where it is`, { cause: err }));
        return;
      }
      try {
        const { socket } = JSON.parse(stdout) as { socket?: unknown };
        if (typeof socket === 'string') {
          resolve(socket);
          return;
        }
      } catch {
        // it says why
      }
      reject(new ServiceError(`quarry does not say where it serves: ${stderr.trim() || 'install a newer one'}`, { cause: err }));
    });
  });
}

/** A connection to the socket at a path, if that is this user's and nobody else can have put it there. */
export async function dial(socket: string): Promise<net.Socket> {
  if (process.platform === 'win32' || !process.geteuid) {
    throw new ServiceError('Node has no Unix sockets on this system: use the client in Go, or quarry search --json');
  }
  if (Buffer.byteLength(socket) > longest) {
    throw new ServiceError(`the path of the socket is too long: systems take ${longest} bytes; set service.socket to a shorter one than ${socket}`);
  }
  // Node cannot ask whose process is at the other end: what tells is that nobody else can enter the folder.
  const elsewhere = 'set service.socket to a path in a folder of your own';
  const folder = path.dirname(socket);
  const f = await look(folder, socket);
  if (!f.isDirectory()) {
    throw new UnsafeSocketError(`${folder} is no folder, or a link to one: ${elsewhere}`);
  }
  if (f.uid !== process.geteuid()) {
    throw new UnsafeSocketError(`${folder} is another user's folder: ${elsewhere}`);
  }
  if (f.mode & 0o077) {
    throw new UnsafeSocketError(`${folder} can be entered by other users: chmod 700 it, or ${elsewhere}`);
  }
  const s = await look(socket, socket);
  if (!s.isSocket()) {
    throw new UnsafeSocketError(`${socket} is no socket: remove it, or set service.socket to another path`);
  }
  if (s.uid !== process.geteuid()) {
    throw new UnsafeSocketError(`${socket} is another user's: remove it, or set service.socket to another path`);
  }
  return new Promise((resolve, reject) => {
    const conn = net.connect(socket);
    conn.once('connect', () => {
      conn.removeAllListeners('error');
      resolve(conn);
    });
    conn.once('error', (err) => reject(failure(socket, err)));
  });
}

async function look(name: string, socket: string): Promise<Stats> {
  try {
    return await lstat(name);
  } catch (err) {
    throw failure(socket, err as NodeJS.ErrnoException);
  }
}

/** What an error of the system says of a socket. */
function failure(socket: string, err: NodeJS.ErrnoException): ServiceError {
  switch (err.code) {
    case 'EACCES':
    case 'EPERM':
      return new UnsafeSocketError(`${socket} is not yours to use: quarry serve serves its own user only; start one of your own (${err.message})`, { cause: err });
    case 'EAGAIN':
      return new ConnectionError(`quarry serve at ${socket} takes no connections: it is stopped, or too busy; try again, or start it again`, { cause: err });
  }
  return new NotRunningError(socket, err.code ?? err.message, err);
}
