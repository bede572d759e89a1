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

/** One thing after the other until `over`; at the end reads everything that it holds once more. */
export async function runLoad(client: SoakClient, over: () => boolean): Promise<void> {
  while (!over()) {
    const [name, operation] = client.random.weighted(mixture);
    await attempt(client, name, operation, client.anyKey());
  }
  for (const key of client.held.keys()) await attempt(client, 'get', get, key);
}

/** After a write that failed nobody knows what is there: the key is left out of what must be. */
async function attempt(client: SoakClient, name: string, operation: Operation, key: string): Promise<void> {
  client.tally.count(name);
  try {
    await operation(client, key);
  } catch (error) {
    client.tally.failed(name, key, error);
    client.held.delete(key);
  }
}
