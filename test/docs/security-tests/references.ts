/** A test that a line of the page names. */
export interface Reference {
  readonly line: string;
  /** Below test/, without `.test.ts`. */
  readonly path: string;
}

const short: Readonly<Record<string, string>> = {
  O: 'plugins/operator',
  A: 'plugins/agent',
  P: 'plugins/proxy',
  B: 'plugins/bulk',
  E: 'objects',
  W: 'plugins/wrapper',
  I: 'cluster/injection',
  C: 'manifests/chart',
  N: 'runtime/native',
  S: 'keyserver/secret-client',
};

/** The first cells of all rows. */
export const linesOf = (page: string): readonly string[] => rowsOf(page).map(([line]) => line);

/** Every test that the rows name. @throws Error where a row names none, or says something else beside them */
export function referencesIn(page: string): readonly Reference[] {
  return rowsOf(page).flatMap(([line, tests]) => tests.split('; ').map((part) => referencesOf(line, part)));
}

function rowsOf(page: string): readonly (readonly [string, string])[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  return rows
    .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()))
    .map(([line = '', tests = '', ...more]) => {
      if (more.length > 0) throw new Error(`${line} has more than two cells`);
      return [line, tests] as const;
    })
    .filter(([line]) => line !== 'Line' && !/^-+$/.test(line));
}

function referencesOf(line: string, part: string): Reference {
  if (!/^[\w./-]+$/.test(part)) throw new Error(`${line}: ${part} is no path of a test`);
  return { line, path: expanded(part) };
}

/** A path whose first folder may be a letter of the page. */
export const expanded = (path: string): string =>
  path.replace(/^[A-Z](?=\/)/, (letter) => short[letter] ?? letter);
