import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { FileResult } from './events.ts';

export interface Time {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

export type Times = ReadonlyMap<string, Time>;

const nameOf = (file: string) => relative(process.cwd(), file);

/**
 * What each file took when it last ran, dearest first: path below the repository, ms of wall clock, ms of processor. An
 * unreadable file is an empty one: it decides nothing but an order.
 */
export function readTimes(path: string | undefined): Times {
  if (path === undefined) return new Map();
  try {
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    return new Map(lines.map((line) => entryOf(line.split('\t'))));
  } catch {
    return new Map();
  }
}

function entryOf([file = '', milliseconds, cpuMilliseconds]: string[]): [string, Time] {
  return [file, { milliseconds: Number(milliseconds), cpuMilliseconds: Number(cpuMilliseconds) }];
}

/** Adds what files took that passed; one that failed may have ended early, and says nothing. */
export function writeTimes(
  path: string,
  results: readonly FileResult[],
  exists: (file: string) => boolean,
): void {
  const passed = results.filter(({ failures, passed }) => failures.length === 0 && passed > 0);
  const added = passed.map(({ file, milliseconds, cpuMilliseconds = 0 }): [string, Time] => [
    nameOf(file),
    { milliseconds: Math.round(milliseconds), cpuMilliseconds },
  ]);
  const all = [...new Map([...readTimes(path), ...added])].filter(([file]) => exists(file));
  const lines = all.sort(([, a], [, b]) => b.cpuMilliseconds - a.cpuMilliseconds).map(lineOf);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, lines.join(''));
  renameSync(temporary, path);
}

const lineOf = ([file, { milliseconds, cpuMilliseconds }]: readonly [string, Time]) =>
  `${file}\t${milliseconds}\t${cpuMilliseconds}\n`;

/** The files, those that take longest first, so that none of them is left for the end; a new one may take any time. */
export function longestFirst(files: readonly string[], times: Times): string[] {
  const took = (file: string) => times.get(nameOf(file))?.milliseconds ?? Number.POSITIVE_INFINITY;
  const keyed = files.map((file) => ({ file, took: took(file) }));
  return keyed.sort((a, b) => (a.took === b.took ? 0 : b.took - a.took)).map(({ file }) => file);
}

/** The ten files that took most of the processor, one a line. */
export function dearest(results: readonly FileResult[]): string {
  const sorted = results.toSorted((a, b) => (b.cpuMilliseconds ?? 0) - (a.cpuMilliseconds ?? 0)).slice(0, 10);
  const seconds = (milliseconds = 0) => (milliseconds / 1000).toFixed(1).padStart(6);
  const lines = sorted.map(
    ({ file, milliseconds, cpuMilliseconds }) =>
      `${seconds(cpuMilliseconds)} s of CPU ${seconds(milliseconds)} s  ${nameOf(file)}`,
  );
  return lines.join('\n');
}
