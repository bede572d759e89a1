/** A line that a person types, with what the page shows below it. */
export interface Typed {
  readonly command: string;
  /** Of the page, from 1. */
  readonly line: number;
  /** Both outputs as a terminal mixes them; empty: the page does not show it. */
  readonly shown: readonly string[];
}

/** Text that the page tells its reader to save. */
export interface SavedFile {
  readonly name: string;
  readonly text: string;
}

export type Entry = { readonly typed: Typed } | { readonly file: SavedFile };

/**
 * What a page has its reader do, in its order: blocks of the language `console`, in which `$ ` leads what is typed and a
 * backslash continues it, and blocks with a file's name behind their language. Other blocks are for reading.
 * @throws Error for output ahead of the first command of a block
 */
export function entriesIn(page: string): readonly Entry[] {
  return fencedBlocks(page).flatMap(({ info, text, line }): Entry[] => {
    const [language, name] = info.split(' ');
    if (name !== undefined) return [{ file: { name, text: `${text}\n` } }];
    return language === 'console' ? typedIn(text.split('\n'), line).map((typed) => ({ typed })) : [];
  });
}

/** What stands in a block, without its fences. */
export interface Block {
  readonly text: string;
  /** Of its first line, from 1. */
  readonly line: number;
}

/** The blocks of a language, in the order of the page; those that are to be saved as files left out. */
export const blocksIn = (page: string, language: string): readonly Block[] =>
  fencedBlocks(page)
    .filter(({ info }) => info === language)
    .map(({ text, line }) => ({ text, line }));

/** `info` is what stands behind the opening fence. @throws Error for a block that does not end */
function fencedBlocks(page: string): readonly (Block & { readonly info: string })[] {
  const lines = page.split('\n');
  const blocks: (Block & { readonly info: string })[] = [];
  for (let at = 0; at < lines.length; at++) {
    const info = /^```(.*)$/.exec(lines[at] ?? '')?.[1];
    if (info === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block does not end`);
    blocks.push({ info, text: lines.slice(at + 1, end).join('\n'), line: at + 2 });
    at = end;
  }
  return blocks;
}

/** The commands of a block of the shell, one a line unless a backslash continues it. */
export const commandsIn = ({ text }: Block): readonly string[] => text.split(/(?<!\\)\n/);

function typedIn(block: readonly string[], first: number): readonly Typed[] {
  const all: { command: string; line: number; shown: string[] }[] = [];
  block.forEach((text, index) => {
    const last = all.at(-1);
    if (last?.shown.length === 0 && last.command.endsWith('\\')) last.command += `\n${text}`;
    else if (text.startsWith('$ ')) all.push({ command: text.slice(2), line: first + index, shown: [] });
    else if (last === undefined) throw new Error(`line ${first + index}: output ahead of a command`);
    else last.shown.push(text);
  });
  return all;
}

/** From a heading, its own line, to the next one of its level or a higher one. @throws Error where it is not there */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`the page has no heading ${heading}`);
  const level = heading.indexOf(' ');
  const ends = (text: string) => /^#+ /.test(text) && text.indexOf(' ') <= level;
  const inside = insideBlocks(lines);
  const length = lines
    .slice(start + 1)
    .findIndex((text, index) => !inside.has(start + 1 + index) && ends(text));
  return [
    ...Array<string>(start).fill(''),
    ...lines.slice(start, length < 0 ? undefined : start + 1 + length),
  ].join('\n');
}

/** Numbers of lines where `#` begins no heading. */
function insideBlocks(lines: readonly string[]): ReadonlySet<number> {
  const inside = new Set<number>();
  let open = false;
  lines.forEach((text, index) => {
    if (text.startsWith('```')) open = !open;
    if (open) inside.add(index);
  });
  return inside;
}

/** Whether that was shown: `…` stands for any text of a line, a line `...` for any lines. */
export function isShown(shown: readonly string[], output: string): boolean {
  const line = (text: string) =>
    text === '...' ? '(?:.*\n)*?' : `${text.split('…').map(literal).join('.*')}[ \t]*\n`;
  const pattern = new RegExp(`^${shown.map(line).join('')}$`);
  return pattern.test(output.trim() === '' ? '' : `${output.replace(/^\n+/, '').trimEnd()}\n`);
}

const literal = (text: string): string => text.trimEnd().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
