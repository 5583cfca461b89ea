/** What VS Code knows of a setting: what the user set, and what the workspace and its folder set, which come with a repository. */
export interface Layers {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/**
 * The value that counts, undefined if none is set. As with the user's own file, a workspace may forbid more than the user does, and
 * leave out more, but not less.
 *
 * @param merge how values go together, as the setting's x-merge in package.json says: forbid, union, or not
 */
export function effective({ globalValue: own, workspaceValue, workspaceFolderValue }: Layers, merge?: string): unknown {
  if (merge === 'union') {
    return together(own, workspaceValue, workspaceFolderValue);
  }
  const theirs = workspaceFolderValue ?? workspaceValue;
  if (merge === 'forbid' && own === false) {
    return false;
  }
  return merge === 'forbid' && Array.isArray(own) ? together(own, theirs) : theirs ?? own;
}

/** The lists as one; what is no list is left out where there is one, else it is for the server to refuse. */
function together(...values: unknown[]): unknown {
  const lists = values.filter((value) => Array.isArray(value));
  return lists.length > 0 ? [...new Set(lists.flat())] : values.find((value) => value !== undefined);
}
