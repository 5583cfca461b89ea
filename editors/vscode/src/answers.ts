// Explanations and answers, rendered beside the code in one panel, with a link on every place they name. The server writes
// them as Markdown in which what a model said is text; the panel can load nothing at all, whatever stands in it.

import * as crypto from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ProgressToken } from 'vscode-languageclient/node';
import { columnOf } from './assist';
import type { Jobs } from './jobs';
import { citation, code } from './words';

/** Stands above an answer that is not whole. */
const cutShort = 'The server ended before this was whole: ask again.';

/** Which jobs write which documents, by what their titles begin with. */
const verbs: Record<string, string> = { '/answer.md': 'Ask', '/explanation.md': 'Explain' };

export class Answers implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  /** The document that the panel shows. */
  private shown: vscode.Uri | undefined;
  /** The job that wrote what the panel shows last. */
  private job: ProgressToken | undefined;
  /** What the panel has of it. */
  private written: { html: string; files: Record<string, string> } = { html: '', files: {} };
  /** Whether the server ended while it wrote it. */
  private cut = false;
  /** The lines that an answer named and the user went to. */
  private readonly cited = vscode.window.createTextEditorDecorationType({ isWholeLine: true, backgroundColor: new vscode.ThemeColor('editor.selectionHighlightBackground') });
  private uncite = () => {};
  private readonly subscriptions: vscode.Disposable[] = [
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.toString() === this.shown?.toString()) {
        this.noteJob();
        void this.write(document);
      }
    }),
    this.cited,
  ];

  constructor(private readonly jobs: Jobs) {}

  /** Shows a document of the server's, as it is and as it goes on. The code keeps the focus. */
  async show(uri: vscode.Uri): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    this.shown = uri;
    this.cut = false;
    this.job = undefined;
    this.noteJob();
    if (!this.panel) {
      // Not with VS Code's own find box: it takes the focus whenever the panel is hidden, also when a change is shown in its place.
      this.panel = vscode.window.createWebviewPanel('quarry.answer', 'quarry', { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {
        enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true,
      });
      this.panel.webview.onDidReceiveMessage((message) => this.receive(message));
      this.panel.onDidDispose(() => { this.panel = this.shown = undefined; });
      this.panel.webview.html = page(crypto.randomBytes(16).toString('hex')); // it asks for the answer when it is there
    } else {
      this.panel.reveal(undefined, true);
      await this.write(document);
    }
  }

  /** The server has ended. To be told before its jobs are forgotten. */
  end(): void {
    if (this.jobs.runs(this.job)) {
      this.cut = true;
      void this.panel?.webview.postMessage({ ...this.written, note: cutShort });
    }
  }

  dispose(): void {
    this.uncite();
    this.subscriptions.forEach((s) => s.dispose());
    this.panel?.dispose();
  }

  /** Notes who writes what the panel shows, as long as somebody does. */
  private noteJob(): void {
    const verb = verbs[this.shown?.path ?? ''];
    const job = verb ? this.jobs.newest(verb) : undefined;
    if (job !== undefined) {
      this.job = job;
      this.cut = false;
    }
  }

  private async write(document: vscode.TextDocument): Promise<void> {
    const text = document.getText();
    const [html, files] = await Promise.all([vscode.commands.executeCommand<string>('markdown.api.render', text), filesIn(text)]);
    if (document.uri.toString() === this.shown?.toString() && document.getText() === text) { // else a newer one is on its way
      this.written = { html, files: Object.fromEntries(files) };
      await this.panel?.webview.postMessage({ ...this.written, note: this.cut ? cutShort : '' });
    }
  }

  private async receive(message: { open?: string; line?: number; end?: number }): Promise<void> {
    if (!message.open) {
      if (this.shown) {
        await this.write(await vscode.workspace.openTextDocument(this.shown));
      }
      return;
    }
    const range = new vscode.Range(Math.max(0, (message.line ?? 1) - 1), 0, Math.max(0, (message.end ?? message.line ?? 1) - 1), Number.MAX_SAFE_INTEGER);
    await focus(this.panel);
    await this.goTo(vscode.Uri.parse(message.open), range);
  }

  /** Puts the cursor before some lines, and shows which they are. They are not selected: what is typed next would take their place. */
  private async goTo(uri: vscode.Uri, range: vscode.Range): Promise<void> {
    this.uncite();
    const editor = await vscode.window.showTextDocument(uri, { selection: new vscode.Range(range.start, range.start), viewColumn: columnOf(uri) ?? vscode.ViewColumn.One });
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    editor.setDecorations(this.cited, [range]);
    const until = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) =>
        textEditor === editor && !(selections.length === 1 && selections[0].isEmpty && selections[0].active.isEqual(range.start)) && this.uncite()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => document === editor.document && contentChanges.length > 0 && this.uncite()),
    );
    this.uncite = () => {
      until.dispose();
      editor.setDecorations(this.cited, []);
      this.uncite = () => {};
    };
  }
}

/**
 * Waits until VS Code knows that the user is in a panel, where they have just clicked. It learns so some time after the page does, and would
 * then go back there from what was opened meanwhile.
 */
function focus(panel: vscode.WebviewPanel | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!panel || panel.active) {
      resolve();
      return;
    }
    const end = () => {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    };
    const timer = setTimeout(end, 500); // a page that is asked by something else than the user gets no focus
    const listening = vscode.Disposable.from(panel.onDidChangeViewState(() => panel.active && end()), panel.onDidDispose(end));
  });
}

/** The files that text cites, by the names it has for them, of those that are in the workspace. */
async function filesIn(text: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folders = vscode.workspace.workspaceFolders ?? [];
  const most = 300; // of names: each is looked for on disk
  for (const name of [...new Set([...names(text, citation), ...(text.match(/[^`\n]+/g) ?? []).flatMap((part) => names(part, code))])].slice(0, most)) {
    for (const folder of folders) {
      const [first, ...rest] = name.split('/');
      const inside = folders.length > 1 && first === folder.name ? rest.join('/') : name; // with several, the folder's name goes first
      const uri = vscode.Uri.joinPath(folder.uri, inside);
      if (!path.posix.relative(folder.uri.path, uri.path).startsWith('..') && await isFile(uri)) {
        found.set(name, uri.toString());
        break;
      }
    }
  }
  return found;
}

function names(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name);
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(({ type }) => (type & vscode.FileType.File) !== 0, () => false);
}

/** The panel: nothing but its own script and style runs in it, and nothing is loaded. */
function page(nonce: string): string {
  return `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">
  body { padding: 0 1.2em 1.2em; line-height: 1.5; max-width: 60em; }
  h1 { font-size: 1.3em; font-weight: 600; }
  code, pre { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
  pre { padding: .6em .8em; overflow-x: auto; background: var(--vscode-textCodeBlock-background); }
  hr { border: 0; border-top: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder)); }
  button.place { font: inherit; padding: 0; border: 0; background: none; cursor: pointer; color: var(--vscode-textLink-foreground); }
  button.place:hover { text-decoration: underline; }
  #note { position: sticky; top: 0; margin: 0 -1.2em; padding: .4em 1.2em; color: var(--vscode-inputValidation-warningForeground, var(--vscode-foreground)); background: var(--vscode-inputValidation-warningBackground, var(--vscode-editor-background)); border-bottom: 1px solid var(--vscode-inputValidation-warningBorder); }
  search { position: fixed; top: 0; right: 1.2em; padding: .4em; background: var(--vscode-editorWidget-background); border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); }
  search input { font: inherit; padding: 2px 4px; color: var(--vscode-input-foreground); background: var(--vscode-input-background); border: 1px solid var(--vscode-input-border, transparent); }
  ::highlight(found) { background: var(--vscode-editor-findMatchHighlightBackground); }
  ::highlight(at) { background: var(--vscode-editor-findMatchBackground); }
</style>
</head>
<body>
<search hidden><input aria-label="Find in the answer" placeholder="Find"> <output></output></search>
<p id="note" role="status" hidden></p>
<main></main>
<script nonce="${nonce}">
  const vscode = acquireVsCodeApi();
  const citation = new RegExp(${JSON.stringify(citation.source)}, 'g');
  const code = new RegExp(${JSON.stringify(code.source)}, 'g');
  const main = document.querySelector('main');
  const textsOf = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) {
      nodes.push(walker.currentNode);
    }
    return nodes;
  };

  // Ctrl+F finds, Enter and Shift+Enter go on, Escape ends it.
  const search = document.querySelector('search');
  const sought = document.querySelector('search input');
  let at = 0;
  const find = (step) => {
    const what = search.hidden ? '' : sought.value.toLowerCase();
    const ranges = [];
    for (const node of what ? textsOf(main) : []) {
      const text = node.data.toLowerCase();
      for (let from = text.indexOf(what); from >= 0 && from + what.length <= node.length; from = text.indexOf(what, from + what.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, from + what.length);
        ranges.push(range);
      }
    }
    at = ranges.length > 0 ? (at + (step ?? 0) + ranges.length) % ranges.length : 0;
    CSS.highlights.set('found', new Highlight(...ranges));
    CSS.highlights.set('at', Object.assign(new Highlight(...ranges.slice(at, at + 1)), { priority: 1 }));
    document.querySelector('search output').textContent = !what ? '' : ranges.length > 0 ? (at + 1) + ' of ' + ranges.length : 'Not here';
    if (step !== undefined && ranges.length > 0) {
      ranges[at].startContainer.parentElement.scrollIntoView({ block: 'nearest' });
    }
  };
  sought.addEventListener('input', () => { at = 0; find(0); });
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f') {
      search.hidden = false;
      sought.focus();
      sought.select();
      find(0);
    } else if (event.target === sought && event.key === 'Enter') {
      find(event.shiftKey ? -1 : 1);
    } else if (!search.hidden && event.key === 'Escape') {
      search.hidden = true;
      find(0);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // VS Code may not know yet that the user is here, and would find in the code
  }, true);

  addEventListener('message', ({ data: { html, files, note } }) => {
    const above = document.querySelector('#note');
    above.textContent = note;
    above.hidden = !note;
    main.innerHTML = html;
    for (const a of main.querySelectorAll('a')) {
      a.replaceWith(...a.childNodes); // only places are links
    }
    main.normalize();
    for (const node of textsOf(main)) {
      const parts = [];
      let last = 0;
      const whole = node.parentElement.matches('code:not(pre code)') ? [...node.data.matchAll(code)].filter(([, name]) => Object.hasOwn(files, name)) : [];
      for (const match of whole.length > 0 ? whole : node.data.matchAll(citation)) {
        const uri = Object.hasOwn(files, match[1]) ? files[match[1]] : undefined;
        if (!uri) {
          continue;
        }
        const place = document.createElement('button');
        place.className = 'place';
        place.textContent = match[0];
        place.onclick = () => vscode.postMessage({ open: uri, line: Number(match[2]), end: Number(match[3] ?? match[2]) });
        parts.push(node.data.slice(last, match.index), place);
        last = match.index + match[0].length;
      }
      if (parts.length > 0) {
        node.replaceWith(...parts, node.data.slice(last));
      }
    }
    find();
  });
  vscode.postMessage({});
</script>
</body>
</html>`;
}
