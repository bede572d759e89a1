/** What a terminal shows, as far as programs here make use of one. */
export interface Screen {
  write(text: string): void;
  /** Rows from the top, without blanks at their ends. */
  readonly rows: readonly string[];
  /** Rows that went out at the top. */
  readonly scrolled: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
  /** What was asked of it that it does not know, such as the modes that a program switched. */
  readonly unknown: readonly string[];
}

/** Control characters other than ends of lines are taken for escapes. */
const token = /[^\P{Cc}\r\n]\[([?\d;]*)([A-Za-z])|[^\P{Cc}\r\n].|[\s\S]/gu;

/** A line feed begins a line, as behind a terminal's line discipline. Characters are one column wide. */
export function createScreen(height: number, width: number): Screen {
  let cells: string[] = Array.from({ length: height }, () => '');
  const scrolled: string[] = [];
  const unknown: string[] = [];
  let [row, column] = [0, 0];
  const put = (character: string) => {
    if (column === width) feed();
    const line = (cells[row] ?? '').padEnd(column);
    cells[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  };
  const feed = () => {
    column = 0;
    row += 1;
    if (row < height) return;
    scrolled.push((cells[0] ?? '').trimEnd());
    cells = [...cells.slice(1), ''];
    row = height - 1;
  };
  const cut = (at: number) => {
    cells[row] = (cells[row] ?? '').slice(0, at);
  };
  const act = (given: string, kind: string, whole: string) => {
    const at = Math.min(column, width - 1);
    if (kind === 'H' && given === '') [row, column] = [0, 0];
    else if (kind === 'K' && given === '') cut(at);
    else if (kind === 'K' && given === '2') cut(0);
    else if (kind === 'J' && given === '2') cells = cells.map(() => '');
    else if (kind === 'J' && given === '') {
      cut(at);
      cells = cells.map((line, index) => (index > row ? '' : line));
    } else if (kind !== 'm') unknown.push(whole);
  };
  return {
    write(text) {
      for (const [whole, given = '', kind] of text.matchAll(token)) {
        if (kind !== undefined) act(given, kind, whole);
        else if (whole === '\n') feed();
        else if (whole === '\r') column = 0;
        else if (/^\p{Cc}/u.test(whole)) unknown.push(whole);
        else put(whole);
      }
    },
    get rows() {
      return cells.map((line) => line.trimEnd());
    },
    get cursor() {
      return { row, column };
    },
    scrolled,
    unknown,
  };
}
