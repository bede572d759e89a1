import { existsSync, readFileSync } from 'node:fs';
import type { Reference } from './references.ts';

const fileOf = (path: string) => new URL(`../../${path}.test.ts`, import.meta.url);

/** Those whose file is not there, or has no test of that title. */
export function withoutTest(references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ path, title }) => {
    if (!existsSync(fileOf(path))) return true;
    return !titlesIn(readFileSync(fileOf(path), 'utf8')).some((one) => isTitle(one, title));
  });
}

/** Titles of the tests of a file as its source has them, placeholders included. */
export function titlesIn(source: string): readonly string[] {
  const suites = [...source.matchAll(/const (\w+) = suite\b/g)].map(([, name]) => name);
  const call = new RegExp(`^\\s*(?:${suites.join('|')})\\(\\s*(['"\`])((?:\\\\.|(?!\\1).)*)\\1,`, 'gm');
  return [...source.matchAll(call)].map(([, , title = '']) => title.replace(/\\(['"`])/g, '$1'));
}

/** Whether a title is the quoted one, where `…` and placeholders stand for anything. */
export function isTitle(title: string, quoted: string): boolean {
  const pieces = title.split(/\$\{[^}]*\}/).map(literal);
  if (new RegExp(`^${pieces.join('.*')}$`, 's').test(quoted)) return true;
  if (!quoted.includes('…')) return false;
  return new RegExp(`^${quoted.split('…').map(literal).join('.*')}$`, 's').test(title);
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
