import * as vscode from 'vscode';

/**
 * The settings that the user has set, nested as the server reads them. VS Code would fill in the defaults of
 * package.json for all others, and they would then win over the user's own settings file.
 *
 * @param keys the full names, `quarry.completion.enabled`
 */
export function chosenSettings(keys: string[]): object {
  const configuration = vscode.workspace.getConfiguration();
  const settings: Record<string, unknown> = {};
  for (const key of keys) {
    const found = configuration.inspect(key);
    const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (value === undefined || key === 'quarry.path') { // the path is the extension's own
      continue;
    }
    const names = key.split('.').slice(1);
    const last = names.pop()!;
    let at = settings;
    for (const name of names) {
      at = (at[name] ??= {}) as Record<string, unknown>;
    }
    at[last] = value;
  }
  return settings;
}
