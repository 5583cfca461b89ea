// What quarry tells the user: as a message, and for a while in the status bar, too, since messages are hidden with Do Not Disturb.

import * as vscode from 'vscode';

/** How long the status bar says it, in ms. */
const told = 15_000;

/** How much of it the status bar has room for, in characters; its tooltip has all of it. */
const room = 80;

class Told implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('quarry.told', vscode.StatusBarAlignment.Left, 10_001); // before a change that waits
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    this.item.name = 'quarry: message';
  }

  say(text: string, color?: string): void {
    const words = [...text.split('\n')[0].replaceAll('$(', '$ (')]; // no icons but ours
    this.item.text = `$(comment) ${words.length > room ? `${words.slice(0, room - 1).join('')}…` : words.join('')}`;
    this.item.tooltip = text;
    this.item.backgroundColor = color ? new vscode.ThemeColor(color) : undefined;
    this.item.show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.item.hide(), told);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.item.dispose();
  }
}

let bar: Told | undefined;

/** Makes the status bar's part, which is to be disposed of. */
export function tells(): vscode.Disposable {
  bar = new Told();
  return bar;
}

/** Says something in the status bar alone. */
export function mention(text: string): void {
  bar?.say(text);
}

/** Says what is no fault. */
export async function inform(text: string): Promise<void> {
  bar?.say(text);
  await vscode.window.showInformationMessage(text);
}

/** Says what stays until the user has put it away. */
export async function warn(text: string): Promise<void> {
  bar?.say(text, 'statusBarItem.warningBackground');
  await vscode.window.showWarningMessage(text);
}

/** Says what went wrong. */
export async function fail(text: string): Promise<void> {
  bar?.say(text, 'statusBarItem.errorBackground');
  await vscode.window.showErrorMessage(text);
}
