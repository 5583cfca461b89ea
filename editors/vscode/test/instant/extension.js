// Answers at once with what the places of TestLastKeyToGhostText go on with, and notes when it was asked as tap_test.go does.

const { appendFileSync } = require('node:fs');
const vscode = require('vscode');

let asked = 0;

exports.activate = () => {
  vscode.languages.registerInlineCompletionItemProvider({ scheme: 'file' }, {
    provideInlineCompletionItems: (document, position) => {
      const now = Date.now();
      const place = /^var place(\d+) = $/.exec(document.lineAt(position).text.slice(0, position.character));
      if (!place) {
        return [];
      }
      appendFileSync(process.env.QUARRY_TAP, `${now} asked ${++asked}\n${now} answered ${asked}\n`);
      return [new vscode.InlineCompletionItem(`shelf.Find(${place[1]})`, new vscode.Range(position, position))];
    },
  });
  const item = vscode.window.createStatusBarItem();
  item.text = 'instant';
  item.tooltip = 'instant shows ghost text'; // what window.mjs waits for
  item.show();
};
