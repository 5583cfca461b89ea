import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import { onPath } from './onpath';

/** The server's binary: `quarry.path`, else the first one on the PATH. Undefined, and said to the user, if there is none. */
export async function findServer(): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'quarry.exe' : 'quarry';
  const set = vscode.workspace.getConfiguration('quarry').get<string>('path');
  const candidates = set ? [set] : onPath(name, process.env.PATH);
  for (const file of candidates) {
    if (await access(file, constants.X_OK).then(() => true, () => false)) {
      return file;
    }
  }
  const missing = set ? `There is no program at ${set} (quarry.path).` : `There is no ${name} on VS Code's PATH.`;
  void vscode.window.showErrorMessage(`${missing} Build it with "make build" and set quarry.path.`, 'Open Settings').then((chosen) => {
    if (chosen) {
      void vscode.commands.executeCommand('workbench.action.openSettings', 'quarry.path');
    }
  });
  return undefined;
}
