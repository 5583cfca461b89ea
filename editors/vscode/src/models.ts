import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { notRunning } from './assist';
import { inform } from './tell';
import type { Choice } from './status';

/**
 * Looks after models: each choice is a command of the server, which asks before it writes or deletes anything.
 *
 * @param client answers the client of now
 */
export async function chooseForModels(client: () => LanguageClient | undefined): Promise<void> {
  const run = async (command: string, ...args: string[]) => {
    const to = client();
    if (!to?.isRunning()) {
      void inform(notRunning);
      return;
    }
    await to.sendRequest('workspace/executeCommand', { command, arguments: args });
  };
  const choices: Choice[] = [
    { label: '$(list-flat) Show the installed models', run: () => run('quarry.listModels') },
    { label: '$(sparkle) Set up the models that suit this machine', run: () => run('quarry.setupModel') },
    { label: '$(cloud-download) Fetch a model…', run: () => fetchModel(run) },
    { label: '$(debug-pause) Pause the download', run: () => run('quarry.pauseDownload') },
    { label: '$(debug-continue) Resume the download', run: () => run('quarry.resumeDownload') },
    { label: '$(close) Cancel the download', run: () => run('quarry.cancelDownload') },
    { label: '$(arrow-swap) Complete code with another model', run: () => run('quarry.useModel') },
    { label: '$(beaker) Try the model', run: () => run('quarry.verifyModel') },
    { label: '$(file-add) Import the model of a file…', run: () => importModel(run) },
    { label: '$(trash) Delete a model', run: () => run('quarry.removeModel') },
  ];
  const chosen = await vscode.window.showQuickPick(choices, { title: 'quarry: models' });
  await chosen?.run?.();
}

type Run = (command: string, ...args: string[]) => Promise<void>;

async function fetchModel(run: Run): Promise<void> {
  const name = await vscode.window.showInputBox({ title: 'quarry: fetch a model', prompt: 'Its name in Ollama\'s library, such as granite4.1:3b' });
  if (name) {
    await run('quarry.pullModel', name);
  }
}

async function importModel(run: Run): Promise<void> {
  const files = await vscode.window.showOpenDialog({ title: 'Import the model of a file', filters: { 'GGUF models': ['gguf'] } });
  if (files?.[0]) {
    await run('quarry.importModel', files[0].fsPath);
  }
}
