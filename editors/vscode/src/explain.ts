import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { notRunning } from './assist';
import { inform } from './tell';

/** The result of `quarry/completion.explain`. */
interface Explanation {
  engine: string;
  note?: string;
  prompt: {
    text: string;
    tokens: number;
    snippets: { path: string; start_line: number; end_line: number; why: string }[];
  };
  timings_ms: Record<string, number>;
}

const scheme = 'quarry-explanation';

/** Shows where ghost text came from, in a document of its own that cannot be changed. */
export class Explanations implements vscode.Disposable {
  private text = '';
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    onDidChange: this.changed.event,
    provideTextDocumentContent: () => this.text,
  });

  /** Shows it for the last ghost text of the document at hand. */
  async show(client: LanguageClient | undefined): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!client?.isRunning() || !editor) {
      void inform(editor ? notRunning : 'No file is open: open the one that had ghost text.');
      return;
    }
    const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
    const explanation = await client.sendRequest<Explanation | null>('quarry/completion.explain', { textDocument: { uri } });
    if (!explanation) {
      void inform('There was no ghost text in this file yet: type, and ask again.');
      return;
    }
    this.text = describe(explanation);
    const shown = vscode.Uri.from({ scheme, path: 'The last ghost text.md' });
    this.changed.fire(shown);
    await vscode.window.showTextDocument(shown, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: true });
  }

  dispose(): void {
    this.provider.dispose();
    this.changed.dispose();
  }
}

function describe({ engine, note, prompt, timings_ms }: Explanation): string {
  const timings = Object.entries(timings_ms).map(([what, ms]) => `- ${what}: ${ms.toFixed(1)} ms`);
  const snippets = prompt.snippets.map((s) => `- ${s.path}:${s.start_line}-${s.end_line}: ${s.why}`);
  const fence = '`'.repeat(Math.max(3, ...[...prompt.text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return [
    '# The last ghost text',
    `From ${engine || 'nothing'}${note ? `: ${note}` : ''}`,
    ['## Timings', ...timings].join('\n'),
    ...(snippets.length ? [['## Also in the prompt', ...snippets].join('\n')] : []),
    ...(prompt.text ? [`## Prompt (${prompt.tokens} tokens)`, `${fence}\n${prompt.text}\n${fence}`] : []),
  ].join('\n\n') + '\n';
}
