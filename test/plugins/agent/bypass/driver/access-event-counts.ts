import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { http } from '../../../../support/http.ts';

/** Several times as long as the agent lets hits lie in the ring. */
const REST_MS = 300;
const MOST_TRIES = 50;

const sample = /^svc_agent_hits_total\{road="(\w+)",outcome="(\w+)"\} (\d+)$/gm;

/** The agent's counters of hits, by `road outcome`, once no more come. */
export async function accessEventCounts(health: string): Promise<Record<string, number>> {
  let last = await read(health);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await sleep(REST_MS);
    const now = await read(health);
    if (isDeepStrictEqual(now, last)) return now;
    last = now;
  }
  throw new Error(`Hits go on coming: ${JSON.stringify(last)}`);
}

async function read(health: string): Promise<Record<string, number>> {
  const { text } = await http(`http://${health}/metrics`);
  return Object.fromEntries(
    [...text.matchAll(sample)].map(([, road, outcome, count]) => [`${road} ${outcome}`, Number(count)]),
  );
}
