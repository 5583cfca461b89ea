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
export type Run = Record<Side, { line: number; count: number; rows: number }>;

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

/** A text as a diff shows it: no line has more rows than any window, and below its end there is room. */
export interface Laid {
  text: string;
  lines: string[];
  /** The line that each of the text's own begins at, and the one behind them. */
  first: number[];
}

/** How many characters of a line are shown in one: VS Code does not tell which rows of a removed line are on the screen. */
const longest = 100;

/** Stands before the further parts of a line that is shown in several. */
const goesOn = '⤷ ';

/** So many lines stand below a text's end, so that what is on the screen tells how many rows that has. */
const below = 60;

/** Lays a text out for a diff. */
export function lay(text: string): Laid {
  const own = text.split(/\r\n|\r|\n/);
  const ended = own.at(-1) === '';
  if (ended) {
    own.pop();
  }
  const lines: string[] = [];
  const first = own.map((line) => {
    lines.push(...parts(line));
    return lines.length;
  });
  const end = ended || own.length === 0 ? '── end of the file ──' : '── end of the file, without a line break ──';
  return { text: [...lines, end, ...Array<string>(below).fill('')].join('\n'), lines, first: [0, ...first] };
}

/** Whether a document has the text that was laid out, and nothing else: VS Code may still show an older one. */
export function shows(document: string, { text }: Laid): boolean {
  const plain = (of: string) => of.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'); // as an editor keeps texts
  return plain(document) === plain(text);
}

/** A line in parts that are not too long, each ended behind a blank if there is one. */
function parts(line: string): string[] {
  const list: string[] = [];
  let rest = [...line];
  while (rest.length > longest) {
    const blank = rest.slice(0, longest).findLastIndex((character) => character === ' ' || character === '\t') + 1;
    const cut = blank > longest / 2 ? blank : longest;
    list.push(rest.slice(0, cut).join(''));
    rest = rest.slice(cut);
  }
  return [...list, rest.join('')].map((part, n) => (n > 0 ? goesOn : '') + part);
}

/** A run as texts that are laid out show it. */
export function laidRun(run: Run, sides: Record<Side, Laid>): Run {
  const of = (side: Side) => {
    const { first, lines } = sides[side];
    const at = (line: number) => first[Math.min(line, first.length - 1)];
    const [line, end] = [at(run[side].line), at(run[side].line + run[side].count)];
    return { line, count: end - line, rows: lines.slice(line, end).reduce((sum, text) => sum + rowsOf(text), 0) };
  };
  return { before: of('before'), after: of('after') };
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
        run = { before: { line: at.before, count: 0, rows: 0 }, after: { line: at.after, count: 0, rows: 0 } };
        files.at(-1)?.push(run);
      }
      const side = text.startsWith('-') ? 'before' : 'after';
      run[side].count++;
      run[side].rows += rowsOf(text.slice(1));
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

  constructor(runs: Run[]) {
    this.runs = runs;
    const parts = (side: Side) => runs.map((run) => ({ from: run[side].line, to: run[side].line + run[side].count })).filter(({ from, to }) => from < to);
    this.left = { before: parts('before'), after: parts('after') };
  }

  /** Where the first that is left begins. */
  next(): { side: Side; from: number } | undefined {
    for (const run of this.runs) {
      for (const side of ['before', 'after'] as const) {
        const part = this.leftOf(run, side);
        if (part) {
          return { side, from: part.from };
        }
      }
    }
    return undefined;
  }

  /** How many runs have something that is left. */
  count(): number {
    return this.runs.filter((run) => this.leftOf(run, 'before') ?? this.leftOf(run, 'after')).length;
  }

  private leftOf(run: Run, side: Side): Part | undefined {
    return this.left[side].find(({ from, to }) => from < run[side].line + run[side].count && to > run[side].line);
  }

  /** A part of a side is on the screen. */
  saw(side: Side, { from, to }: Part): void {
    this.left[side] = this.left[side]
      .flatMap((part) => [{ from: part.from, to: Math.min(part.to, from) }, { from: Math.max(part.from, to), to: part.to }])
      .filter((part) => part.from < part.to);
  }
}

/**
 * The line to which what is on the screen is surely not below a message that lies over its end.
 *
 * @param above how many rows are on the screen above the first line, at most
 * @param rows how many rows a line takes at most, with what the other side has above it
 * @param clear how many rows of the screen are above the message, at least
 * @param covered how many rows the message takes, at most
 */
export function clearTo(first: number, last: number, above: number, rows: (line: number) => number, clear: number, covered: number): number {
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
 * @param clear how many rows of the screen are above the message, at least
 * @param end where what is on the screen of the line ends
 */
export function clearIn(from: number, rows: number, clear: number, end: number): number {
  return Math.min(end, from + Math.max(clear, 1) / rows);
}
