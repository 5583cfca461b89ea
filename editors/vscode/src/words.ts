// Words of others in VS Code's messages, which take "[label](command:...)" for a link wherever it stands, also from one
// part of a message to the next.

/**
 * Words that a message may begin with, which goes on with links of its own: no bracket is left that could begin a label, or
 * end one. Code is marked by nothing, since a message has no form for it.
 */
export function inMessage(words: string): string {
  return words.replaceAll('`', '').replaceAll('[', '［').replaceAll(']', '］');
}
