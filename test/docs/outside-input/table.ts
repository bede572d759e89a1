import { expanded } from '../security-tests/references.ts';

export const title = 'What comes from outside, and its bound';

/** A parser or collector of what others send. */
export interface OutsideInput {
  readonly what: string;
  readonly from: string;
  /** From the root of the repository. */
  readonly files: readonly string[];
  readonly bound: string;
  /** Below test/, without `.test.ts`. */
  readonly tests: readonly string[];
}

/** The rows of the table. @throws Error where a row does not have five cells, or an empty one */
export function readTable(section: string): readonly OutsideInput[] {
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) => {
    const [what = '', from = '', files = '', bound = '', tests = '', ...more] = row
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim());
    if (more.length > 0 || [what, from, files, bound, tests].includes(''))
      throw new Error(`${what} does not have five cells`);
    return {
      what,
      from,
      files: files.split('; ').map(fileOf),
      bound,
      tests: tests.split('; ').map(expanded),
    };
  });
}

const otherFolders = /^(?:init|sdk)\//;

const fileOf = (name: string): string => (otherFolders.test(name) ? name : `src/${expanded(name)}.ts`);
