import { readdirSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';

export interface Selection {
  files: string[];
  /** Fragments that match no file: each is a failure, so that a typing error never looks like success. */
  unmatched: string[];
}

/** All `*.test.ts` below `root`, sorted; `fixtures` directories hold tests that are meant to fail. */
export function testFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.split(sep).includes('fixtures'))
    .map((path) => `${root}${sep}${path}`)
    .sort();
}

/** Suites that take minutes: run where a fragment asks for them, as `npm run conformance` does. */
export const LONG = '.long.server.test.ts';

/** Keeps the files whose path contains one of the fragments; `quick` leaves out those that need servers or many seconds. */
export function select(root: string, fragments: string[], quick: boolean): Selection {
  const all = testFiles(root).filter(
    (file) => !(quick && (file.endsWith('.server.test.ts') || isSlow(file))),
  );
  const matches = (file: string, fragment: string) => relative(process.cwd(), file).includes(fragment);
  const files =
    fragments.length === 0
      ? all.filter((file) => !file.endsWith(LONG))
      : all.filter((file) => fragments.some((part) => matches(file, part)));
  return { files, unmatched: fragments.filter((part) => !all.some((file) => matches(file, part))) };
}

/** Whether a file says that it waits more than it works: `export const idle = true`. */
export const isIdle = (file: string): boolean => says(file, 'idle');

/** Whether a file says that it needs many seconds of a processor or of real time: `export const slow = true`. */
const isSlow = (file: string): boolean => says(file, 'slow');

function says(file: string, name: string): boolean {
  return new RegExp(`^export const ${name} = true;$`, 'm').test(readFileSync(file, 'utf8'));
}
