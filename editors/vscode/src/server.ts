import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import * as vscode from 'vscode';
import { serverPlaces } from './onpath';

/** The server's binary, the first that is there. Undefined, and said to the user, if there is none. */
export async function findServer(extension: string): Promise<string | undefined> {
  const set = vscode.workspace.getConfiguration('quarry').get<string>('path');
  for (const file of serverPlaces(set, extension, process.platform, process.env.PATH)) {
    if (await access(file, constants.X_OK).then(() => true, () => false)) {
      return file;
    }
  }
  const missing = set
    ? `quarry.path names no program: change it to where quarry is. It says ${set}.`
    : `There is no quarry on VS Code's PATH. Install it, or build it with "make build" and set quarry.path.`;
  void vscode.window.showErrorMessage(missing, 'Open Settings').then((chosen) => {
    if (chosen) {
      void vscode.commands.executeCommand('workbench.action.openSettings', 'quarry.path');
    }
  });
  return undefined;
}
