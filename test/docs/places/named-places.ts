import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .map((path) => `/${path}`);

const paths = /(?<![\w./-])(?:bench|bin|bpf|docs|init|manifests|proto|scripts|sdk|src|test)\/[\w./*-]*/g;
const fileNames = /(?<![\w./*-])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:c|h|mjs|proto|ts)\b/g;

/** Paths from the root, and names of source files, in what a page shows as code. */
export function placesIn(page: string): readonly string[] {
  const code = [...page.matchAll(/^```[^\n]*\n([\s\S]*?)^```$|`([^`\n]+)`/gm)].map(
    ([, block, span]) => block ?? span ?? '',
  );
  const shown = code.filter((text) => !text.startsWith('npm test -- '));
  const found = shown.flatMap((text) => [...text.matchAll(paths), ...text.matchAll(fileNames)]);
  return [...new Set(found.map(([place]) => place))];
}

/** Whether files have this path or name, or lie below it; `*` stands for any part of a name. */
export function isThere(place: string): boolean {
  const pattern = place.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  const from = place.match(paths)?.[0] === place ? '^/' : '/';
  const matches = new RegExp(`${from}${pattern}(?:/|$)`);
  return files.some((file) => matches.test(file));
}

/** What pages have typed behind `npm test --`. */
export const fragmentsIn = (page: string): readonly string[] =>
  [...page.matchAll(/`npm test -- ([a-z][^`]*)`/g)].flatMap(([, words = '']) => words.split(' '));

export const isTestPath = (fragment: string): boolean =>
  files.some((file) => file.endsWith('.test.ts') && file.includes(fragment));
