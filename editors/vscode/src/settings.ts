import * as vscode from 'vscode';
import { effective } from './layers';

/** The settings of package.json by their full names, `quarry.completion.enabled`. */
export type Properties = Record<string, { 'x-merge'?: string }>;

/** What is set of quarry's settings. */
export class Settings {
  constructor(private readonly properties: Properties) {}

  /** The value of a setting that the user or the workspace has set, by its full name; undefined if neither has. */
  chosen(key: string): unknown {
    return effective(vscode.workspace.getConfiguration().inspect(key) ?? {}, this.properties[key]['x-merge']);
  }

  /** Whether ghost text is wanted. */
  ghostText(): boolean {
    return this.chosen('quarry.completion.enabled') !== false;
  }

  /**
   * All that are set, nested as the server reads them. VS Code would fill in the defaults of package.json for all others, and
   * they would then win over the user's own settings file.
   */
  all(): object {
    const settings: Record<string, unknown> = {};
    for (const key of Object.keys(this.properties)) {
      const value = this.chosen(key);
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
}
