// Changes that the server proposes. Each is shown as a diff beside the code, with the reason and what it rests on, and
// applied only by a deliberate answer there. The diff never takes the focus and opens when nothing is typed, so that no key
// that was meant for something else decides.

import * as vscode from 'vscode';
import type { LanguageClient, StaticFeature } from 'vscode-languageclient/node';
import { columnOf } from './assist';
import { mayBeTyped, Typing } from './typing';
import { inMessage } from './words';

/** The params of `quarry/proposal`; docs/protocol.md says more. */
interface Params {
  id: string;
  title: string;
  reason: string;
  basis: string;
  files: { uri: string; name: string; create: boolean; text: string }[];
}

interface Proposal {
  client: LanguageClient;
  params: Params;
  /** Takes what says why off the screen; there once the change is shown. */
  hide?: () => void;
  /** Whether the server has been told, and has not answered yet. */
  sent?: boolean;
}

const scheme = 'quarry-change';

/** Tells the server that changes are shown here. */
export const showsProposals: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    const { quarry, ...others } = capabilities.experimental ?? {};
    capabilities.experimental = { ...others, quarry: { ...quarry, proposals: true } };
  },
  initialize: () => {},
  getState: () => ({ kind: 'static' }),
  clear: () => {},
};

export class Proposals implements vscode.Disposable {
  /** Those that nobody has decided, the oldest first; only the first is shown. */
  private open: Proposal[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly typing = new Typing();
  /** Says that a change waits, how to answer, and why, where messages are hidden: with Do Not Disturb, or after Escape. */
  private readonly waits = vscode.window.createStatusBarItem('quarry.change', vscode.StatusBarAlignment.Left, 10_000); // what has no room goes from the right
  private readonly subscriptions: vscode.Disposable[] = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, { provideTextDocumentContent: (uri) => this.text(uri) }),
    vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0 && mayBeTyped(event.document.uri.scheme)) {
        this.typing.note();
      }
    }),
    vscode.window.onDidChangeTextEditorSelection((event) => {
      if (event.kind === vscode.TextEditorSelectionChangeKind.Keyboard) {
        this.typing.note();
      }
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      const shown = this.shown();
      if (shown && closed.some((tab) => isOf(tab, shown.params.id))) {
        void this.decide(shown, false);
      }
      this.note();
    }),
    vscode.window.tabGroups.onDidChangeTabGroups(() => this.note()),
    vscode.commands.registerCommand('quarry.vscode.applyChange', (from?: { key?: string }) => from?.key !== 'of the diff' || this.inView() ? this.apply() : undefined),
    vscode.commands.registerCommand('quarry.vscode.discardChange', () => this.discard()),
    vscode.commands.registerCommand('quarry.vscode.whyChange', () => this.why()),
    this.waits,
  ];

  constructor() {
    this.waits.name = 'quarry: change';
    this.waits.command = 'quarry.vscode.whyChange';
    this.waits.text = `$(diff) Change: ${keyOf('A')} applies, ${keyOf('D')} discards`;
  }

  /** Takes the proposals of a client that is not started yet. */
  listen(client: LanguageClient): void {
    client.registerFeature(showsProposals);
    client.onNotification('quarry/proposal', (params: Params) => {
      if (!this.open.some((p) => p.client === client && p.params.id === params.id)) { // else it is on the screen, or about to be
        this.open.push({ client, params });
        this.showNext();
      }
    });
    client.onNotification('quarry/proposal.end', ({ id }: { id: string }) => this.forget(client, id));
    client.onDidChangeState(() => { // what a server that has ended proposed, nobody can decide
      if (!client.isRunning()) {
        this.open.filter((p) => p.client === client).forEach((p) => this.forget(client, p.params.id));
      }
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscriptions.forEach((s) => s.dispose());
  }

  private shown(): Proposal | undefined {
    return this.open.find((p) => p.hide);
  }

  private showNext(): void {
    clearTimeout(this.timer);
    const next = this.open[0];
    if (!next || next.hide) {
      return;
    }
    const wait = this.typing.toWait();
    if (wait > 0) {
      this.timer = setTimeout(() => this.showNext(), wait);
      return;
    }
    next.hide = ask(next.params, () => this.decide(next, false));
    this.waits.tooltip = `${next.params.title}\n\n${next.params.reason}\n\n${next.params.basis}`; // as text: a model wrote it
    this.waits.show();
    this.note();
    void this.show(next.params);
  }

  /** Says in full why the change is proposed, also where messages are hidden. Nothing in it decides. */
  private async why(): Promise<void> {
    const shown = this.shown();
    if (shown) {
      const { title, reason, basis } = shown.params;
      const keys = `${keyOf('A')} applies the change, ${keyOf('D')} discards it.`;
      await vscode.window.showInformationMessage(inMessage(title), { modal: true, detail: inMessage([reason, basis, keys].join('\n\n')) });
    }
  }

  /** Whether the change is what the user looks at, on whichever side of the diff. */
  private inView(): boolean {
    const shown = this.shown();
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return shown !== undefined && tab !== undefined && isOf(tab, shown.params.id);
  }

  /** Tells VS Code's keybindings how it stands. */
  private note(): void {
    void vscode.commands.executeCommand('setContext', 'quarry.changeShown', this.shown() !== undefined);
    void vscode.commands.executeCommand('setContext', 'quarry.changeInView', this.inView());
  }

  private async show({ id, title, files }: Params): Promise<void> {
    const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false };
    for (const [n, file] of files.entries()) {
      const before = file.create ? virtual(id, n, 'before', file.name) : vscode.Uri.parse(file.uri);
      const name = file.name.split('/').pop();
      await vscode.commands.executeCommand('vscode.diff', before, virtual(id, n, 'after', file.name), `${name}: ${title}`, options);
      options.viewColumn = vscode.window.tabGroups.all.find((group) => group.tabs.some((tab) => isOf(tab, id)))?.viewColumn ?? options.viewColumn;
    }
  }

  /** The text of a side of a diff. */
  private text(uri: vscode.Uri): string {
    const [id, n, side] = uri.path.split('/').slice(1);
    const file = this.open.find((p) => p.params.id === id)?.params.files[Number(n)];
    return side === 'after' && file ? file.text : '';
  }

  private async apply(): Promise<void> {
    if (!this.typing.calm()) {
      void vscode.window.showWarningMessage('Not applied: you typed just before. Choose Apply once more.');
      return;
    }
    const shown = this.shown();
    if (shown) {
      await this.decide(shown, true);
    }
  }

  private async discard(): Promise<void> {
    if (!this.typing.calm()) {
      void vscode.window.showWarningMessage('Not discarded: you typed just before. Choose Discard once more.');
      return;
    }
    const shown = this.shown();
    if (shown) {
      await this.decide(shown, false);
    }
  }

  private async decide(p: Proposal, apply: boolean): Promise<void> {
    if (p.sent || !this.open.includes(p)) {
      return;
    }
    p.sent = true;
    const { open, message } = await p.client.sendRequest<{ open: boolean; message: string }>('quarry/decide', { id: p.params.id, apply })
      .catch((error: Error) => ({ open: false, message: error.message }));
    p.sent = false;
    if (!open) {
      this.forget(p.client, p.params.id);
    }
    if (message) {
      void vscode.window.showWarningMessage(inMessage(message));
    }
  }

  /** There is nothing left to decide about a proposal. */
  private forget(client: LanguageClient, id: string): void {
    const gone = this.open.find((p) => p.client === client && p.params.id === id);
    if (!gone) {
      return;
    }
    this.open = this.open.filter((p) => p !== gone);
    if (gone.hide) {
      gone.hide();
      this.waits.hide();
      this.note();
      void close(gone.params);
    }
    this.showNext();
  }
}

/** Closes the diffs. Who was in one is taken to the file that it was about, where undo takes the change back. */
async function close({ id, files }: Params): Promise<void> {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const inside = activeTabGroup.activeTab && isOf(activeTabGroup.activeTab, id);
  await vscode.window.tabGroups.close(all.flatMap((group) => group.tabs.filter((tab) => isOf(tab, id))), true);
  const file = files.find((f) => !f.create);
  if (inside && file) {
    const uri = vscode.Uri.parse(file.uri);
    await vscode.window.showTextDocument(uri, { viewColumn: columnOf(uri) });
  }
}

function virtual(id: string, n: number, side: string, name: string): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${id}/${n}/${side}/${name}` });
}

/** The keys of an answer, as in package.json. */
function keyOf(letter: string): string {
  return `${process.platform === 'darwin' ? 'Ctrl+Q' : 'Alt+Q'} ${letter}`;
}

/** Whether a tab shows a part of a proposal. */
function isOf({ input }: vscode.Tab, id: string): boolean {
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme && input.modified.path.startsWith(`/${id}/`);
}

/**
 * Says why a change is proposed, and asks, until the function it returns is called. The only message that stays in VS Code
 * until then, takes no focus and can be taken back, is that of a progress. Its one button discards. There is no public way to
 * name that button: what is no boolean is its label inside VS Code, and where that ends it is "Cancel" again and does the same.
 * So the words beside it, the keys and the buttons above the diff, which are public, say and do all of it, too.
 */
function ask({ reason, basis }: Params, discard: () => void): () => void {
  let hide = () => {};
  const done = new Promise<void>((resolve) => { hide = resolve; });
  const why = inMessage(`${reason} ${basis}`); // no links but these two: what a model wrote is shown as text
  const title = `${why} [Apply this change](command:quarry.vscode.applyChange) (${keyOf('A')}) or [discard it](command:quarry.vscode.discardChange) (${keyOf('D')}).`;
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: 'Discard' as unknown as boolean }, (progress, cancelled) => {
    cancelled.onCancellationRequested(discard);
    progress.report({ increment: 100 });
    return done;
  });
  return hide;
}
