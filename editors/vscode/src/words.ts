// Words of others: in messages of VS Code, which takes "[label](command:...)" for a link wherever it stands, also from one
// part of a message to the next, and in answers.

/**
 * Words that a message may begin with, which goes on with links of its own: no bracket is left that could begin a label, or
 * end one. Code is marked by nothing, since a message has no form for it.
 */
export function inMessage(words: string): string {
  return words.replaceAll('`', '').replaceAll('[', '［').replaceAll(']', '］');
}

/**
 * A file and its lines, as quarry cites them. A name is looked for from its first letter only: from each of its letters on, a word
 * of some ten thousand, as a model may write it, would keep VS Code busy for minutes.
 */
export const citation = /(?<![^\s:`"'<>()[\]|*])([^\s:`"'<>()[\]|*]+):(\d+)(?:-(\d+))?/g;

/** All of a piece of code, where the name has a blank, brackets or signs of Markdown. */
export const code = /^([^`\n]+):(\d+)(?:-(\d+))?$/g;
