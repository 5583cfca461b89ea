// Changes that the server proposes. Each is shown as a diff beside the code, with the reason and what it rests on, and
// applied only by a deliberate answer there, once all that it changes was on the screen. The diff never takes the focus and
// opens when nothing is typed, so that no key that was meant for something else decides.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { LanguageClient, StaticFeature } from 'vscode-languageclient/node';
import { columnOf } from './assist';
import { clearIn, clearTo, laidRun, lay, rowsOf, runsOf, shows, Unseen, type Laid, type Part, type Run, type Side } from './seen';
import { mention, warn } from './tell';
import { mayBeTyped, Typing } from './typing';
import { inMessage } from './words';

/** The params of `quarry/proposal`; docs/protocol.md says more. */
interface Params {
  id: string;
  title: string;
  reason: string;
  basis: string;
  diff: string;
  files: { uri: string; name: string; create: boolean; text: string }[];
}

interface Proposal {
  client: LanguageClient;
  params: Params;
  /**
   * What the addresses of its texts begin with. No other change has it, whatever server made that: each counts its changes from 1, and VS Code
   * goes on showing the text that it has for an address.
   */
  key: string;
  /** Takes what says why off the screen; there once the change is shown. */
  hide?: () => void;
  /** The files as they are in the diffs, each there once its diff is. */
  files: (Shown | undefined)[];
  /**
   * Whether Apply goes from one place that was not seen to the next: then the message is away, which lies over the end of the window. The
   * status bar has its keys, and why.
   */
  walks?: boolean;
  /** Whether the server has been told, and has not answered yet. */
  sent?: boolean;
}

/** A file as its diff shows it. */
interface Shown {
  /** Both texts as they are shown. */
  laid: Record<Side, Laid>;
  runs: Run[];
  unseen: Unseen;
  /** The line that the user was taken to last, which is on the screen. */
  went?: { side: Side; line: number };
}

const scheme = 'quarry-change';

/**
 * The language of both sides of a diff. package.json and pack.mjs have VS Code's defaults for it, which hold nowhere else: a change of
 * blanks alone is drawn, no line is hidden, below its row's end neither, and all of it is in one column.
 */
const language = 'quarry-change';

/** How long something must be on the screen to be seen, in ms. */
const glance = 300;

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
  private looking: NodeJS.Timeout | undefined;
  /** Ends what is said for a while. */
  private said: (() => void) | undefined;
  /** How many warnings lie over the end of the window. */
  private warnings = 0;
  private readonly typing = new Typing();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  /** Says that a change waits, how to answer, and why, where messages are hidden: with Do Not Disturb, or after Escape. */
  private readonly waits = vscode.window.createStatusBarItem('quarry.change', vscode.StatusBarAlignment.Left, 10_000); // what has no room goes from the right
  private readonly subscriptions: vscode.Disposable[] = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, { onDidChange: this.changed.event, provideTextDocumentContent: (uri) => this.text(uri) }),
    this.changed,
    vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0 && mayBeTyped(event.document.uri.scheme)) {
        this.typing.note();
      }
      if (event.document.uri.scheme === scheme) {
        this.lookSoon();
      }
    }),
    vscode.window.onDidChangeTextEditorSelection((event) => {
      if (event.kind === vscode.TextEditorSelectionChangeKind.Keyboard) {
        this.typing.note();
      }
    }),
    vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => textEditor.document.uri.scheme === scheme && this.lookSoon()),
    vscode.window.onDidChangeVisibleTextEditors(() => this.lookSoon()),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      const shown = this.shown();
      if (shown && closed.some((tab) => isOf(tab, shown))) {
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
  }

  /** Takes the proposals of a client that is not started yet. */
  listen(client: LanguageClient): void {
    client.registerFeature(showsProposals);
    client.onNotification('quarry/proposal', (params: Params) => {
      if (!this.open.some((p) => p.client === client && p.params.id === params.id)) { // else it is on the screen, or about to be
        this.open.push({ client, params, key: randomUUID(), files: [] });
        this.showNext();
      }
    });
    client.onNotification('quarry/proposal.end', ({ id }: { id: string }) => this.forget(client, id));
  }

  /** A server has ended: what it proposed, nobody can decide. Answers the titles of that. */
  lose(client: LanguageClient): string[] {
    const lost = this.open.filter((p) => p.client === client);
    lost.forEach((p) => this.forget(client, p.params.id));
    return lost.map((p) => p.params.title);
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearTimeout(this.looking);
    this.said?.();
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
    this.sayKeys(next);
    this.waits.show();
    this.note();
    void this.show(next);
  }

  /** Says in the status bar what the keys do. */
  private sayKeys(p: Proposal): void {
    const left = placesLeft(p);
    if (left === 0) {
      this.waits.text = `$(diff) Change: ${keyOf('A')} applies, ${keyOf('D')} discards`;
    } else if (p.walks) {
      this.waits.text = `$(diff) Not applied: look, then ${keyOf('A')} (places not seen: ${left}), ${keyOf('D')} discards`;
    } else {
      this.waits.text = `$(diff) Change, places not seen: ${left}. ${keyOf('A')} shows more, ${keyOf('D')} discards`;
    }
    this.waits.backgroundColor = p.walks && left > 0 ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  }

  /** Looks once the diff has rested: what was passed by is not seen. */
  private lookSoon(): void {
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.look(), glance);
  }

  /** Notes what of the change that is shown is on the screen. */
  private look(): void {
    const p = this.shown();
    if (!p) {
      return;
    }
    // The message has lines of some forty characters, with what it says of keys, and buttons.
    const message = p.walks ? 0 : 5 + Math.ceil((p.params.reason.length + p.params.basis.length) / 30);
    const covered = Math.ceil((message + 5 * this.warnings) * messageRow / rowHeight());
    p.files.forEach((file, n) => {
      for (const side of ['before', 'after'] as const) {
        const editor = file && this.editorOf(p, n, side);
        if (editor && !shows(editor.document.getText(), file.laid[side])) { // what is applied is what was on the screen, or nothing
          this.changed.fire(editor.document.uri);
          continue;
        }
        for (const range of editor?.visibleRanges ?? []) {
          const part = shownPart(editor!.document, range, side, file!, covered);
          if (part) {
            file!.unseen.saw(side, part);
          }
        }
      }
    });
    this.sayKeys(p);
  }

  /** The editor that shows a side of a file's diff now. */
  private editorOf(p: Proposal, n: number, side: Side): vscode.TextEditor | undefined {
    const uri = virtual(p, n, side).toString();
    return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
  }

  /** Goes to what was not on the screen yet. */
  private async showMore(p: Proposal): Promise<void> {
    const n = p.params.files.findIndex((_, i) => (p.files[i]?.unseen.count() ?? 1) > 0);
    const file = p.files[n];
    const next = file?.unseen.next();
    if (!file || !next) {
      this.say('Not applied: the change is about to open. Choose Apply again.');
      return;
    }
    if (!this.editorOf(p, n, next.side)) {
      await this.showFile(p, n);
    }
    p.walks = true;
    p.hide?.();
    const editor = this.editorOf(p, n, next.side);
    if (editor) {
      const line = Math.floor(next.from);
      const at = new vscode.Position(line, Math.floor((next.from - line) * editor.document.lineAt(line).text.length + 1e-6)); // the row that has it, not the next
      editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.AtTop);
      file.went = { side: next.side, line };
    }
    this.sayKeys(p);
    this.lookSoon();
  }

  /** Says something for a while, in place of what it said before: messages that pile up would hide the change. */
  private say(text: string): void {
    this.said?.();
    mention(text);
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: text }, (progress) => new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 5_000);
      this.said = () => {
        clearTimeout(timer);
        resolve();
      };
      progress.report({ increment: 100 });
    }));
  }

  /** Says what stays until the user has put it away. */
  private warn(text: string): void {
    this.warnings++;
    void warn(text).then(() => this.warnings--);
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
    return shown !== undefined && tab !== undefined && isOf(tab, shown);
  }

  /** Tells VS Code's keybindings how it stands. */
  private note(): void {
    void vscode.commands.executeCommand('setContext', 'quarry.changeShown', this.shown() !== undefined);
    void vscode.commands.executeCommand('setContext', 'quarry.changeInView', this.inView());
  }

  private async show(p: Proposal): Promise<void> {
    const { files, diff } = p.params;
    const runs = runsOf(diff);
    for (const [n, file] of files.entries()) {
      const before = file.create ? '' : (await vscode.workspace.openTextDocument(vscode.Uri.parse(file.uri))).getText();
      const laid = { before: lay(before), after: lay(file.text) };
      const whole = { before: { line: 0, count: 0, rows: 0 }, after: { line: 0, count: laid.after.first.length - 1, rows: 0 } };
      const its = (runs.length === files.length ? runs[n] : [whole]).map((run) => laidRun(run, laid));
      p.files[n] = { laid, runs: its, unseen: new Unseen(its) };
      for (const side of ['before', 'after'] as const) {
        this.changed.fire(virtual(p, n, side)); // also to whoever asked for it before it was there
        const document = await vscode.workspace.openTextDocument(virtual(p, n, side));
        const coloured = `${language}-${document.languageId}`;
        await vscode.languages.setTextDocumentLanguage(document, (await vscode.languages.getLanguages()).includes(coloured) ? coloured : language);
      }
    }
    // One at a time: a diff that another one covers at once would count as seen. Apply goes on to the next.
    await this.showFile(p, 0);
    if (!this.open.includes(p)) { // decided meanwhile
      await close(p);
    }
  }

  private async showFile(p: Proposal, n: number): Promise<void> {
    const { title, files } = p.params;
    const viewColumn = vscode.window.tabGroups.all.find((group) => group.tabs.some((tab) => isOf(tab, p)))?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.commands.executeCommand('vscode.diff', virtual(p, n, 'before'), virtual(p, n, 'after'), `${files[n].name.split('/').pop()}: ${title}`,
      { viewColumn, preserveFocus: true, preview: false });
  }

  /** The text of a side of a diff. */
  private text(uri: vscode.Uri): string {
    const [key, n, side] = uri.path.split('/').slice(1);
    const p = this.open.find((each) => each.key === key);
    return p?.files[Number(n)]?.laid[side as Side].text ?? '';
  }

  private async apply(): Promise<void> {
    if (!this.typing.calm()) {
      this.warn('Not applied: you typed just before. Choose Apply once more.');
      return;
    }
    const shown = this.shown();
    if (shown && placesLeft(shown) > 0) {
      await this.showMore(shown);
    } else if (shown) {
      await this.decide(shown, true);
    }
  }

  private async discard(): Promise<void> {
    if (!this.typing.calm()) {
      this.warn('Not discarded: you typed just before. Choose Discard once more.');
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
      this.warn(inMessage(message));
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
      this.said?.();
      this.waits.hide();
      this.note();
      void close(gone);
    }
    this.showNext();
  }
}

/** Closes the diffs. Who was in one is taken to the file that it was about, where undo takes the change back. */
async function close(p: Proposal): Promise<void> {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const inside = activeTabGroup.activeTab && isOf(activeTabGroup.activeTab, p);
  await vscode.window.tabGroups.close(all.flatMap((group) => group.tabs.filter((tab) => isOf(tab, p))), true);
  const file = p.params.files.find((f) => !f.create);
  if (inside && file) {
    const uri = vscode.Uri.parse(file.uri);
    await vscode.window.showTextDocument(uri, { viewColumn: columnOf(uri) });
  }
}

/** How many changed places were not on the screen, to their end, for long enough to be seen. */
function placesLeft({ params, files }: Proposal): number {
  return params.files.reduce((sum, _, n) => sum + (files[n]?.unseen.count() ?? 1), 0);
}

/**
 * What the user sees of a side of a diff where VS Code says that a range of it is on the screen. Where the other side alone is, it names the
 * one line that comes next: a line alone is on the screen if the user was taken to it.
 */
function shownPart(document: vscode.TextDocument, { start, end: last }: vscode.Range, side: Side, { runs, went }: Shown, covered: number): Part | undefined {
  const length = (line: number) => document.lineAt(line).text.length;
  const there = went?.side === side && went.line === start.line;
  if (!there && start.line === last.line && start.character === 0 && last.character === length(last.line)) {
    return undefined;
  }
  let end = last;
  if (side === 'before') {
    // In the one column that is drawn a line of it may take more rows than VS Code counts: the last may be below the end of the window.
    const line = last.line - unsure;
    if (line < start.line) {
      return there ? { from: start.line, to: start.line + 1 } : undefined;
    }
    end = new vscode.Position(line, length(line));
  }
  const place = ({ line, character }: vscode.Position, empty: number) => line + (length(line) > 0 ? character / length(line) : empty);
  const other = side === 'before' ? 'after' : 'before';
  const gap = (near: (first: number, end: number) => boolean) => runs.filter((run) => near(run[side].line, run[side].line + run[side].count))
    .reduce((sum, run) => sum + run[other].rows, 0);
  // What stands above the first line may be of the other side: as the diff says, or some lines off where several of them are alike. And of
  // the code as it was the lines take a row each, and leave room where they take more in the column that is drawn.
  const above = there ? 0 : gap((first, end) => first < start.line && start.line <= end + 3) + (start.line > 0 ? rowsOf(document.lineAt(start.line - 1).text) - 1 : 0);
  const from = place(start, 0);
  if (covered === 0) {
    return { from, to: place(end, 1) };
  }
  // A line takes a row at least, and so does each of the other side that stands between.
  const between = runs.filter((run) => run[side].line > start.line && run[side].line <= end.line).reduce((sum, run) => sum + run[other].count, 0);
  const clear = end.line - start.line + 1 + between - covered;
  const clearLine = clearTo(start.line, end.line, above, (line) => rowsOf(document.lineAt(line).text) + gap((first) => first === line), clear, covered);
  if (clearLine >= start.line) {
    return { from, to: clearLine < end.line ? clearLine + 1 : place(end, 1) };
  }
  // Of a line that the user was taken to, the first rows are above the message.
  return there ? { from, to: clearIn(from, rowsOf(document.lineAt(start.line).text), clear, end.line > start.line ? start.line + 1 : place(end, 1)) } : undefined;
}

/** How many of the last lines of the code as it was may be below the end of the window. */
const unsure = 2;

/** How many pixels a row of a message takes at most, and the least that one of an editor does. */
const messageRow = 20;

function rowHeight(): number {
  const { fontSize = 14, lineHeight = 0 } = vscode.workspace.getConfiguration('editor');
  const px = lineHeight >= 8 ? lineHeight : fontSize * (lineHeight || 1.3);
  return Math.max(8, px);
}

/** The address of a side of a file's diff. */
function virtual({ key, params }: Proposal, n: number, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${key}/${n}/${side}/${params.files[n].name}` });
}

/** The keys of an answer, as in package.json. */
function keyOf(letter: string): string {
  return `${process.platform === 'darwin' ? 'Ctrl+Q' : 'Alt+Q'} ${letter}`;
}

/** Whether a tab shows a part of a proposal. */
function isOf({ input }: vscode.Tab, { key }: Proposal): boolean {
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme && input.modified.path.startsWith(`/${key}/`);
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
  const most = 300; // characters of a reason: the message must leave room for the change, and "Why" has all of it
  const short = [...reason].length > most ? `${[...reason].slice(0, most).join('')}…` : reason;
  const why = inMessage(`${short} ${basis}`); // no links but these two: what a model wrote is shown as text
  const title = `${why} [Apply this change](command:quarry.vscode.applyChange) (${keyOf('A')}) or [discard it](command:quarry.vscode.discardChange) (${keyOf('D')}).`;
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: 'Discard' as unknown as boolean }, (progress, cancelled) => {
    cancelled.onCancellationRequested(discard);
    progress.report({ increment: 100 });
    return done;
  });
  return hide;
}
