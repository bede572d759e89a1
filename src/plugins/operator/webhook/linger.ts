import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { sleep as delay } from '../../../runtime/lifecycle/sleep.ts';

export interface LingerTimes {
  /** In ms, as the others. */
  readonly leastMs: number;
  /** When nobody has dialled for so long, the Service has forgotten this replica. */
  readonly quietMs: number;
  readonly mostMs: number;
}

interface Clock {
  /** In ms; only goes forward. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Serves on until callers come no more. Each answer asks its caller to close the connection: the next review goes
 * through the Service again, which sends it elsewhere once it has forgotten this replica. Where the cluster is slow to
 * forget, ending after a fixed time would refuse reviews.
 */
export async function linger(
  server: Pick<Server, 'on' | 'prependListener'>,
  { leastMs, quietMs, mostMs }: LingerTimes,
  { now, sleep }: Clock = { now: () => performance.now(), sleep: delay },
): Promise<void> {
  const begun = now();
  let dialled = begun;
  server.on('connection', () => {
    dialled = now();
  });
  // before whoever answers
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
  });
  const leftMs = () => Math.min(begun + mostMs, Math.max(begun + leastMs, dialled + quietMs)) - now();
  for (let left = leftMs(); left > 0; left = leftMs()) await sleep(left);
}
