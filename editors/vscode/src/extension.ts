// Starts quarry for VS Code. Ghost text itself is VS Code's own: vscode-languageclient asks the server, the editor shows
// the answer and has the keys (Tab, Ctrl+Right for a word, Alt+] for the next candidate).

import * as vscode from 'vscode';
import { LanguageClient, RevealOutputChannelOn, State } from 'vscode-languageclient/node';
import { assistance, showBeside } from './assist';
import { chosenSettings } from './settings';
import { Explanations } from './explain';
import { Proposals } from './proposals';
import { findServer } from './server';
import { StatusItem } from './status';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('quarry', { log: true });
  const status = new StatusItem();
  const explanations = new Explanations();
  const proposals = new Proposals();
  const keys = Object.keys(context.extension.packageJSON.contributes.configuration.properties);

  const start = async () => {
    await client?.dispose();
    client = undefined;
    const command = await findServer();
    if (!command) {
      status.show('missing');
      return;
    }
    client = new LanguageClient('quarry', 'quarry', { command, args: ['lsp'] }, {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      initializationOptions: () => chosenSettings(keys),
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        workspace: {
          configuration: (params) => params.items.map((item) => (item.section === 'quarry' ? chosenSettings(keys) : null)),
        },
        window: {
          showDocument: async (params, token, next) => {
            const uri = vscode.Uri.parse(params.uri);
            if (uri.scheme !== 'quarry') {
              return next(params, token);
            }
            await showBeside(uri);
            return { success: true };
          },
        },
      },
    });
    proposals.listen(client);
    client.onDidChangeState(({ newState }) => status.show(stateName(newState), client?.initializeResult?.serverInfo?.version));
    // What went wrong is in the log and in the message that the client shows.
    await client.start().catch(() => status.show('stopped'));
  };

  const menu = async () => {
    const chosen = await vscode.window.showQuickPick([
      { label: '$(comment-discussion) Ask…', command: 'quarry.vscode.ask' },
      { label: '$(circle-slash) Turn ghost text on or off', command: 'quarry.vscode.toggle' },
      { label: '$(question) Where did the last ghost text come from?', command: 'quarry.vscode.explain' },
      { label: '$(output) Show log', command: 'quarry.vscode.log' },
      { label: '$(gear) Settings', command: 'workbench.action.openSettings', argument: 'quarry.' },
      { label: '$(debug-restart) Restart server', command: 'quarry.vscode.restart' },
    ], { title: 'quarry' });
    if (chosen) {
      await vscode.commands.executeCommand(chosen.command, ...(chosen.argument ? [chosen.argument] : []));
    }
  };

  const toggle = async () => {
    const settings = vscode.workspace.getConfiguration('quarry');
    await settings.update('completion.enabled', !settings.get('completion.enabled'), vscode.ConfigurationTarget.Global);
  };

  context.subscriptions.push(
    log,
    status,
    explanations,
    proposals,
    ...Object.entries(assistance(() => client)).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    vscode.commands.registerCommand('quarry.vscode.menu', menu),
    vscode.commands.registerCommand('quarry.vscode.restart', start),
    vscode.commands.registerCommand('quarry.vscode.toggle', toggle),
    vscode.commands.registerCommand('quarry.vscode.explain', () => explanations.show(client)),
    vscode.commands.registerCommand('quarry.vscode.log', () => log.show()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('quarry.path')) {
        await start();
      } else if (event.affectsConfiguration('quarry')) {
        status.refresh(); // the server hears of it from the client, as it registers for that
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}

function stateName(state: State): 'starting' | 'running' | 'stopped' {
  switch (state) {
    case State.Running:
      return 'running';
    case State.Starting:
      return 'starting';
    default:
      return 'stopped';
  }
}
