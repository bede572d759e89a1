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
