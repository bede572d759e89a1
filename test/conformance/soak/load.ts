import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakClient } from './client.ts';
import { get, head, list, range } from './reads.ts';
import { abort, copy, type Operation, put, putInParts, remove } from './writes.ts';

const mixture: readonly { readonly weight: number; readonly value: readonly [string, Operation] }[] = [
  { weight: 24, value: ['put', put] },
  { weight: 8, value: ['put in parts', putInParts] },
  { weight: 4, value: ['abort', abort] },
  { weight: 26, value: ['get', get] },
  { weight: 16, value: ['range', range] },
  { weight: 6, value: ['head', head] },
  { weight: 4, value: ['list', list] },
  { weight: 5, value: ['copy', copy] },
  { weight: 7, value: ['delete', remove] },
];

const writes: ReadonlySet<string> = new Set(['put', 'put in parts', 'copy', 'delete']);

export interface LoadOptions {
  readonly over: () => boolean;
  /** Between two operations of a client, in ms. */
  readonly pauseMs?: number;
  /** Whether what failed between two moments of `performance.now()` was to be expected. */
  readonly mayFail?: (began: number, ended: number) => boolean;
}

/** One thing after the other until `over`; at the end reads everything that it holds once more. */
export async function runLoad(client: SoakClient, options: LoadOptions): Promise<void> {
  while (!options.over()) {
    const [name, operation] = client.random.weighted(mixture);
    await attempt(client, name, operation, client.anyKey(), options);
    if (options.pauseMs !== undefined) await sleep(options.pauseMs);
  }
}

/** Reads everything that the client holds. */
export async function readAll(client: SoakClient): Promise<void> {
  for (const key of client.held.keys()) await attempt(client, 'get', get, key, {});
}

async function attempt(
  client: SoakClient,
  name: string,
  operation: Operation,
  key: string,
  { mayFail = () => false }: Pick<LoadOptions, 'mayFail'>,
): Promise<void> {
  client.tally.count(name);
  const began = performance.now();
  try {
    await operation(client, key);
  } catch (error) {
    if (mayFail(began, performance.now())) client.tally.disturbed += 1;
    else client.tally.failed(name, key, error);
    if (writes.has(name)) client.retire(key);
  }
}
