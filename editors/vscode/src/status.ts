import * as vscode from 'vscode';
import type { LanguageClient, StaticFeature } from 'vscode-languageclient/node';
import { look, short, type Note, type State } from './look';

/** What can be chosen in the menu. */
export interface Choice extends vscode.QuickPickItem {
  run?: () => unknown;
}

/** Tells the server that its status is shown here. */
const showsStatus: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    const { quarry, ...others } = capabilities.experimental ?? {};
    capabilities.experimental = { ...others, quarry: { ...quarry, status: true } };
  },
  initialize: () => {},
  getState: () => ({ kind: 'static' }),
  clear: () => {},
};

/** What the status bar says of quarry; a click opens the menu. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('quarry', vscode.StatusBarAlignment.Right, 100);
  private state: State = 'starting';
  private version = '';
  private client: LanguageClient | undefined;
  private note: Note | undefined;

  /** @param ghostText tells whether ghost text is wanted */
  constructor(private readonly ghostText: () => boolean) {
    this.item.name = 'quarry';
    this.item.command = 'quarry.vscode.menu';
    this.refresh();
    this.item.show();
  }

  /** Takes the status of a client that is not started yet. */
  listen(client: LanguageClient): void {
    client.registerFeature(showsStatus);
    client.onNotification('quarry/status', (note: Note) => {
      this.client = client;
      this.note = note;
      this.refresh();
    });
  }

  show(state: State, version = ''): void {
    this.state = state;
    this.version = version;
    if (state !== 'running') {
      this.note = undefined;
    }
    this.refresh();
  }

  /** What helps, first in the menu. */
  remedies(): Choice[] {
    const { note, client } = this;
    return note?.remedies.map((remedy) => ({
      label: `$(lightbulb) ${remedy.title}`,
      run: () => client?.sendRequest('workspace/executeCommand', { command: remedy.command, arguments: remedy.arguments }),
    })) ?? [];
  }

  /** Why the status is what it is, in a line. */
  reason(): string | undefined {
    return this.note?.level === 'warning' ? this.note.detail.split('\n')[0] : undefined;
  }

  refresh(): void {
    const { icon, text, says, color } = look(this.state, this.ghostText(), this.version, this.note);
    this.item.text = `${icon} quarry${short(text)}`;
    this.item.tooltip = says;
    this.item.backgroundColor = color ? new vscode.ThemeColor(color) : undefined;
    this.item.accessibilityInformation = { label: `quarry${text}. ${says}` };
    void vscode.commands.executeCommand('setContext', 'quarry.serverRuns', this.state === 'running');
    void vscode.commands.executeCommand('setContext', 'quarry.modelReady', this.state === 'running' && this.note?.model.state === 'ready');
  }

  dispose(): void {
    this.item.dispose();
  }
}
