// Starts quarry for VS Code. Ghost text itself is VS Code's own: vscode-languageclient asks the server, the editor shows
// the answer and has the keys (Tab, Ctrl+Right for a word, Alt+] for the next candidate).

import * as vscode from 'vscode';
import { LanguageClient, MessageType, RevealOutputChannelOn, ShowMessageNotification, State } from 'vscode-languageclient/node';
import { Answers } from './answers';
import { assistance } from './assist';
import { Explanations } from './explain';
import { Jobs } from './jobs';
import { chooseForModels } from './models';
import { Proposals } from './proposals';
import { findServer } from './server';
import { Settings } from './settings';
import { StatusItem, type Choice } from './status';
import { fail, inform, tells, warn } from './tell';
import { inMessage } from './words';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('quarry', { log: true });
  const settings = new Settings(context.extension.packageJSON.contributes.configuration.properties);
  const status = new StatusItem(() => settings.ghostText());
  const told = tells();
  const jobs = new Jobs();
  const answers = new Answers(jobs);
  const explanations = new Explanations();
  const proposals = new Proposals();

  const start = async () => {
    await client?.dispose();
    client = undefined;
    const command = await findServer(context.extensionPath);
    if (!command) {
      status.show('missing');
      return;
    }
    client = new LanguageClient('quarry', 'quarry', { command, args: ['lsp'] }, {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      initializationOptions: () => settings.all(),
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        handleWorkDoneProgress: (token, params, next) => {
          jobs.note(token, params);
          next(token, params);
        },
        workspace: {
          configuration: (params) => params.items.map((item) => (item.section === 'quarry' ? settings.all() : null)),
        },
        window: {
          showDocument: async (params, token, next) => {
            const uri = vscode.Uri.parse(params.uri);
            if (uri.scheme !== 'quarry') {
              return next(params, token);
            }
            await answers.show(uri);
            return { success: true };
          },
        },
      },
    });
    proposals.listen(client);
    status.listen(client);
    const its = client;
    its.onNotification(ShowMessageNotification.type, ({ type, message }) => void (type === MessageType.Error ? fail : type === MessageType.Warning ? warn : inform)(inMessage(message)));
    its.onDidChangeState(({ newState }) => {
      status.show(stateName(newState), its.initializeResult?.serverInfo?.version);
      if (newState === State.Stopped) { // it may have been killed, and what it was at went with it
        answers.end();
        const changes = proposals.lose(its);
        const lost = jobs.lose();
        const [first] = [...lost, ...changes]; // a job waits for a change of its own
        if (first) {
          void warn(inMessage(`The server ended; ask again (${first})`));
        }
      }
    });
    // What went wrong is in the log and in the message that the client shows.
    await client.start().catch(() => status.show('stopped'));
  };

  const menu = async () => {
    const reason = status.reason();
    const separator: Choice = { label: '', kind: vscode.QuickPickItemKind.Separator };
    const command = (label: string, name: string, ...args: unknown[]): Choice => ({ label, run: () => vscode.commands.executeCommand(name, ...args) });
    const chosen = await vscode.window.showQuickPick<Choice>([
      ...status.remedies(),
      separator,
      command('$(comment-discussion) Ask…', 'quarry.vscode.ask'),
      command('$(circle-slash) Turn ghost text on or off', 'quarry.vscode.toggle'),
      command('$(package) Models…', 'quarry.vscode.models'),
      command('$(question) Where did the last ghost text come from?', 'quarry.vscode.explain'),
      separator,
      command('$(output) Show log', 'quarry.vscode.log'),
      command('$(gear) Settings', 'workbench.action.openSettings', 'quarry.'),
      command('$(debug-restart) Restart server', 'quarry.vscode.restart'),
    ], { title: 'quarry', placeHolder: reason });
    await chosen?.run?.();
  };

  const toggle = async () => {
    await vscode.workspace.getConfiguration('quarry').update('completion.enabled', !settings.ghostText(), vscode.ConfigurationTarget.Global);
  };

  context.subscriptions.push(
    log,
    told,
    status,
    answers,
    explanations,
    proposals,
    ...Object.entries(assistance(() => client)).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    vscode.commands.registerCommand('quarry.vscode.menu', menu),
    vscode.commands.registerCommand('quarry.vscode.models', () => chooseForModels(() => client)),
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
