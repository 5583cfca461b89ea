// Explain, fix, refactor and ask from the command palette. The server has commands of these names already, which
// vscode-languageclient registers; these here ask the user for what is missing first.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { inform } from './tell';

/** Said where the server is needed and is not there. */
export const notRunning = 'quarry is not running: run "quarry: Restart Server".';

const kinds = [
  { label: 'Extract into a function', refactoring: 'extract' },
  { label: 'Rename to something clearer within its scope', refactoring: 'rename' },
  { label: 'Simplify', refactoring: 'simplify' },
  { label: 'Document', refactoring: 'document' },
  { label: 'Write tests', refactoring: 'test' },
  { label: 'Something else…', refactoring: 'free' },
];

/** The commands by name, each a function of what it is to work on. */
export function assistance(client: () => LanguageClient | undefined): Record<string, () => Promise<void>> {
  /** Runs a command of the server on a range of the document at hand. */
  const run = async (command: string, range: vscode.Range | undefined, argument: object) => {
    const to = client();
    if (!to?.isRunning()) {
      void inform(notRunning);
      return;
    }
    const document = vscode.window.activeTextEditor?.document;
    const place = document && range && {
      ...to.code2ProtocolConverter.asVersionedTextDocumentIdentifier(document),
      range: to.code2ProtocolConverter.asRange(range),
    };
    await to.sendRequest('workspace/executeCommand', { command, arguments: [{ ...place, ...argument }] });
  };

  /** Runs a command of the server on a problem at the cursor, whoever reported it. */
  const onProblem = async (command: string) => {
    const editor = vscode.window.activeTextEditor;
    const line = editor?.selection.active.line;
    const problems = editor ? vscode.languages.getDiagnostics(editor.document.uri).filter((d) => d.range.start.line <= line! && line! <= d.range.end.line) : [];
    if (problems.length === 0) {
      void inform('There is no problem on this line: F8 goes to the next.');
      return;
    }
    const chosen = problems.length === 1
      ? problems[0]
      : (await vscode.window.showQuickPick(problems.map((d) => ({ label: d.message, d })), { title: 'Which one?' }))?.d;
    if (chosen) {
      const code = typeof chosen.code === 'object' ? chosen.code.value : chosen.code;
      await run(command, chosen.range, {
        diagnostic: { message: chosen.message, severity: chosen.severity + 1, source: chosen.source, code: code === undefined ? undefined : String(code) },
      });
    }
  };

  return {
    'quarry.vscode.explainProblem': () => onProblem('quarry.explain'),
    'quarry.vscode.fixProblem': () => onProblem('quarry.fix'),

    'quarry.vscode.refactor': async () => {
      const selection = vscode.window.activeTextEditor?.selection;
      if (!selection || selection.isEmpty) {
        void inform('Select the code that is to be changed.');
        return;
      }
      const chosen = await vscode.window.showQuickPick(kinds, { title: 'What should quarry do with the selection?' });
      if (chosen && chosen.refactoring !== 'free') {
        await run('quarry.refactor', selection, { kind: chosen.refactoring });
      } else if (chosen) {
        const goal = await vscode.window.showInputBox({ prompt: 'Change it so that …' });
        if (goal) {
          await run('quarry.refactor', selection, { goal });
        }
      }
    },

    'quarry.vscode.ask': async () => {
      const selection = vscode.window.activeTextEditor?.selection;
      const selected = selection && !selection.isEmpty;
      const question = await vscode.window.showInputBox({ prompt: selected ? 'Ask about the selection' : 'Ask about this workspace' });
      if (question) {
        await run('quarry.ask', selected ? selection : undefined, { question });
      }
    },
  };
}

/** The column in which a document is open. */
export function columnOf(uri: vscode.Uri): vscode.ViewColumn | undefined {
  return vscode.window.tabGroups.all.find((group) =>
    group.tabs.some((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString()))?.viewColumn;
}
