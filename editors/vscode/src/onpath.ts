import * as path from 'node:path';

/** Where a program may be by the PATH. A folder of it that is empty or relative may be the workspace's own: it is left out. */
export function onPath(name: string, folders = ''): string[] {
  return folders.split(path.delimiter).filter((folder) => path.isAbsolute(folder)).map((folder) => path.join(folder, name));
}
