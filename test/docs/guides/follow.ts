import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesIn, isShown, type SavedFile, type Typed } from './console.ts';
import type { LineResult, Shell } from './shell.ts';

export interface Reader {
  readonly shell: Shell;
  /** Where the reader saves files; the shell began there. */
  readonly folder: string;
  /** What the page has as an example, and this reader has something else for. */
  readonly own: Readonly<Record<string, string>>;
}

/** Somebody who looks again when something has not come about yet. */
const patienceMs = 60_000;
const againMs = 500;
/** What only looks: to type it again changes nothing. */
const looks = /^(?:kubectl (?:--namespace \S+ )?get|curl|svc audit|bao status|tail|cat|grep) /;

/**
 * Does what the page says, line by line, as far as it says it.
 * @returns how many lines were typed
 * @throws Error for the first one that does something else than the page shows, or fails where `$?` is not asked for
 */
export async function follow(page: string, reader: Reader): Promise<number> {
  const entries = entriesIn(page);
  let count = 0;
  for (const [index, entry] of entries.entries()) {
    if ('file' in entry) save(entry.file, reader);
    else {
      const next = entries[index + 1];
      const asks = next !== undefined && 'typed' in next && next.typed.command === 'echo $?';
      await type(entry.typed, asks, reader);
      count++;
    }
  }
  return count;
}

function save({ name, text }: SavedFile, reader: Reader): void {
  if (basename(name) !== name) throw new Error(`${name} is no name of a file`);
  writeFileSync(join(reader.folder, name), withOwn(text, reader));
}

async function type(typed: Typed, mayFail: boolean, reader: Reader): Promise<void> {
  const command = withOwn(typed.command, reader);
  const shown = typed.shown.map((line) => withOwn(line, reader));
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await reader.shell.type(command);
    const wrong = disagreement(shown, answer, mayFail);
    if (wrong === '') return;
    if (!looks.test(command) || performance.now() > deadline)
      throw new Error(`line ${typed.line}: $ ${command}\n${wrong}\n${answer.output}`);
    await sleep(againMs);
  }
}

function disagreement(shown: readonly string[], { output, status }: LineResult, mayFail: boolean): string {
  if (status !== 0 && !mayFail) return `ended with ${status}:`;
  if (shown.length === 0 || isShown(shown, output)) return '';
  return `should show\n${shown.join('\n')}\nand showed`;
}

const withOwn = (text: string, { own }: Reader): string =>
  Object.entries(own).reduce((result, [example, other]) => result.replaceAll(example, other), text);
