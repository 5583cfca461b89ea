import * as vscode from 'vscode';

type State = 'starting' | 'running' | 'stopped' | 'missing';

/** What the status bar says of the server; a click opens the menu. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('quarry', vscode.StatusBarAlignment.Right, 100);
  private state: State = 'starting';
  private version = '';

  constructor() {
    this.item.name = 'quarry';
    this.item.command = 'quarry.vscode.menu';
    this.refresh();
    this.item.show();
  }

  show(state: State, version = ''): void {
    this.state = state;
    this.version = version;
    this.refresh();
  }

  refresh(): void {
    const on = vscode.workspace.getConfiguration('quarry').get<boolean>('completion.enabled');
    const [icon, says] = {
      starting: ['$(loading~spin)', 'is starting'],
      running: on ? ['$(sparkle)', `${this.version} shows ghost text`] : ['$(circle-slash)', `${this.version}: ghost text is off`],
      stopped: ['$(error)', 'has stopped; the log says why'],
      missing: ['$(error)', 'was not found; set quarry.path'],
    }[this.state];
    this.item.text = `${icon} quarry`;
    this.item.tooltip = `quarry ${says}`;
    const wrong = this.state === 'stopped' || this.state === 'missing';
    this.item.backgroundColor = wrong ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}
