// What the user has begun and the server works on: an answer, a change that is made or waits for what they decide.

import type { ProgressToken, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport } from 'vscode-languageclient/node';

/** What the token of a job that the user has begun begins with; docs/protocol.md says so. */
const asked = 'quarry-asked-';

export class Jobs {
  /** Their titles, by the tokens of their progress, the newest last. */
  private readonly running = new Map<ProgressToken, string>();

  note(token: ProgressToken, params: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd): void {
    if (params.kind === 'begin' && typeof token === 'string' && token.startsWith(asked)) {
      this.running.set(token, params.title);
    } else if (params.kind === 'end') {
      this.running.delete(token);
    }
  }

  runs(token: ProgressToken | undefined): boolean {
    return token !== undefined && this.running.has(token);
  }

  /** The newest of which the title begins with a verb. */
  newest(verb: string): ProgressToken | undefined {
    return [...this.running].findLast(([, title]) => title === verb || title.startsWith(`${verb}:`))?.[0];
  }

  /** Their server has ended. Answers the titles of all of them. */
  lose(): string[] {
    const titles = [...this.running.values()];
    this.running.clear();
    return titles;
  }
}
