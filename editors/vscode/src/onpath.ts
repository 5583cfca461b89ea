import * as path from 'node:path';

/** Where a program may be by the PATH. A folder of it that is empty or relative may be the workspace's own: it is left out. */
export function onPath(name: string, folders = ''): string[] {
  return folders.split(path.delimiter).filter((folder) => path.isAbsolute(folder)).map((folder) => path.join(folder, name));
}

/** Where the server may be: where the user says, and nowhere else; in the extension, as the marketplaces' has it; on the PATH. */
export function serverPlaces(set: string | undefined, extension: string, platform: string, folders?: string): string[] {
  const name = platform === 'win32' ? 'quarry.exe' : 'quarry';
  return set ? [set] : [path.join(extension, 'bin', name), ...onPath(name, folders)];
}
