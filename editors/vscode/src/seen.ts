// What of a change was on the screen. VS Code tells which lines of each side of a diff are, also of the side that has the code as it was
// while both are drawn in one column, where its removed lines stand between those of the changed text.
//
// A place in a text is a number: line n goes from n to n+1, and a part of a line is the same part of that.

/** A part of a text, from and to which place. */
export interface Part {
  from: number;
  to: number;
}

/** The sides of a diff: the code as it was, which has the removed lines, and as it would be, which has the added ones. */
export type Side = 'before' | 'after';

/** A run of changed lines: from which line of each side on how many are changed, and how many rows they take at most. Lines count from 0. */
export interface Run {
  before: { line: number; count: number; rows: number };
  after: { line: number; count: number; rows: number };
  /** Whether one of the removed lines may take more rows than the window has: that its first is on the screen is all that VS Code tells. */
  tall: boolean;
}

/** How many rows of the editor the user surely sees above the message about a change, which lies over the end of the window. */
const clear = 12;

/** No editor that is of use is narrower than this, in characters. */
const narrow = 30;

/** How many columns a character takes at most. */
function columnsOf(character: string): number {
  return character === '\t' ? 8 : character > '\u2e7f' ? 2 : 1;
}

/** How many rows a line takes at most: no row takes a word that would go beyond its end, and each is indented as the line is. */
export function rowsOf(text: string): number {
  const columns = (part: string) => [...part].reduce((sum, character) => sum + columnsOf(character), 0);
  const width = Math.max(narrow / 2, narrow - columns(/^\s*/.exec(text)![0]));
  let rows = 1;
  let taken = 0;
  for (const word of text.match(/\s|\S+/g) ?? []) {
    const more = columns(word);
    if (taken + more > width) {
      rows += Math.ceil(more / width);
      taken = more % width;
    } else {
      taken += more;
    }
  }
  return rows;
}

/** The runs of each file of a unified diff. */
export function runsOf(diff: string): Run[][] {
  const files: Run[][] = [];
  const left = { before: 0, after: 0 }; // how many lines of the hunk are still to come: only they tell `--- a/file` from a removed `-- note`
  const at = { before: 0, after: 0 };
  let run: Run | undefined;
  const pass = (...sides: Side[]) => sides.forEach((side) => {
    left[side]--;
    at[side]++;
  });
  for (const text of diff.split('\n')) {
    if (left.before <= 0 && left.after <= 0) {
      run = undefined;
      const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
      if (text.startsWith('--- ')) {
        files.push([]);
      } else if (hunk) {
        [left.before, left.after] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
        at.before = Number(hunk[1]) - (left.before > 0 ? 1 : 0); // an empty side names the line before
        at.after = Number(hunk[3]) - (left.after > 0 ? 1 : 0);
      }
    } else if (text.startsWith('-') || text.startsWith('+')) {
      if (!run) {
        run = { before: { line: at.before, count: 0, rows: 0 }, after: { line: at.after, count: 0, rows: 0 }, tall: false };
        files.at(-1)?.push(run);
      }
      const side = text.startsWith('-') ? 'before' : 'after';
      run[side].count++;
      run[side].rows += rowsOf(text.slice(1));
      run.tall ||= side === 'before' && rowsOf(text.slice(1)) > clear;
      pass(side);
    } else if (!text.startsWith('\\')) {
      run = undefined;
      pass('before', 'after');
    }
  }
  return files;
}

/** What of a file's change was not on the screen yet. */
export class Unseen {
  private readonly runs: Run[];
  private readonly left: Record<Side, Part[]>;
  /** Runs with a tall line, until what stands behind the removed lines is on the screen. */
  private tails: Run[];

  /** @param lines how many the changed text has */
  constructor(runs: Run[], lines: number) {
    this.runs = runs;
    const parts = (side: Side) => runs.map((run) => ({ from: run[side].line, to: run[side].line + run[side].count })).filter(({ from, to }) => from < to);
    this.left = { before: parts('before'), after: parts('after') };
    this.tails = runs.filter(({ after, tall }) => tall && after.line < lines - 1); // of one at the end it cannot be told
  }

  /** Where the first that is left begins. `tall` if the user must scroll from there, since no place to go to shows all of it. */
  next(): { side: Side; from: number; tall?: boolean } | undefined {
    for (const run of this.runs) {
      for (const side of ['before', 'after'] as const) {
        const part = this.left[side].find(({ from, to }) => from < run[side].line + run[side].count && to > run[side].line);
        if (part) {
          return { side, from: part.from };
        }
        if (side === 'before' && this.tails.includes(run)) {
          return { side, from: run.before.line, tall: true };
        }
      }
    }
    return undefined;
  }

  /** How many runs have something that is left. */
  count(): number {
    return this.runs.filter((run) => this.tails.includes(run) || (['before', 'after'] as const).some((side) =>
      this.left[side].some(({ from, to }) => from < run[side].line + run[side].count && to > run[side].line))).length;
  }

  /** The user, who was told to scroll from the first tall line on, has a line of the changed text at the top of the screen. */
  passed(line: number): void {
    this.tails = this.tails.filter((run, n) => n > 0 || run.after.line >= line);
  }

  /** A part of a side is on the screen. */
  saw(side: Side, { from, to }: Part): void {
    this.left[side] = this.left[side]
      .flatMap((part) => [{ from: part.from, to: Math.min(part.to, from) }, { from: Math.max(part.from, to), to: part.to }])
      .filter((part) => part.from < part.to);
    if (side === 'after') {
      this.tails = this.tails.filter(({ after: { line } }) => line < from || line >= to);
    }
  }
}

/**
 * The line to which what is on the screen is surely not below the message about the change.
 *
 * @param above how many rows are on the screen above the first line, at most
 * @param rows how many rows a line takes at most, with what the other side has above it
 * @param covered how many rows the message takes
 */
export function clearTo(first: number, last: number, above: number, rows: (line: number) => number, covered: number): number {
  let line = first - 1;
  for (let taken = above; line < last && (taken += rows(line + 1)) <= clear;) {
    line++;
  }
  return Math.max(line, last - covered);
}

/**
 * Up to which place a line is surely not below the message, whose row from a place on is the first of the screen.
 *
 * @param rows how many rows the line takes at most
 * @param end where what is on the screen of the line ends
 */
export function clearIn(from: number, rows: number, end: number): number {
  return Math.min(end, from + clear / rows);
}
