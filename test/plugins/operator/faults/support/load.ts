import { setTimeout as sleep } from 'node:timers/promises';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { type Admission, createAdmissionClient } from './admissions.ts';

export interface Load {
  /** So far, in the order in which they were answered. */
  readonly admissions: readonly Admission[];
  /** Sends no more, and waits for the answers. */
  stop(): Promise<Tally>;
}

export interface Tally {
  readonly all: number;
  readonly failed: readonly Admission[];
  /** Milliseconds. */
  readonly median: number;
  readonly slowest: number;
}

/** More would say how a machine fares that is short of processors, and not how a fault does. */
const mostUnderWay = 60;

/** Sends admissions at a steady rate, whether earlier ones were answered or not, unless very many were not. */
export function startLoad(kubernetes: Kubernetes, namespace: string, perSecond: number): Load {
  const client = createAdmissionClient(kubernetes, namespace);
  const admissions: Admission[] = [];
  const underWay = new Set<Promise<void>>();
  const send = () => {
    if (underWay.size >= mostUnderWay) return;
    const one: Promise<void> = client.admit().then((admission) => {
      admissions.push(admission);
      underWay.delete(one);
    });
    underWay.add(one);
  };
  const stop = new AbortController();
  const sending = keepPace(perSecond, send, stop.signal);
  return {
    admissions,
    async stop() {
      stop.abort();
      await sending;
      await Promise.all(underWay);
      client.close();
      return tallyOf(admissions);
    },
  };
}

/** Makes up for what it is late, as the clients of a cluster would not wait for each other either. */
async function keepPace(perSecond: number, send: () => void, signal: AbortSignal): Promise<void> {
  const begun = performance.now();
  for (let sent = 0; !signal.aborted; sent++) {
    const dueMs = (sent / perSecond) * 1_000 - (performance.now() - begun);
    if (dueMs > 0) await sleep(dueMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) send();
  }
}

export function tallyOf(admissions: readonly Admission[]): Tally {
  const times = admissions.map(({ ms }) => ms).sort((one, other) => one - other);
  return {
    all: admissions.length,
    failed: admissions.filter(({ injected }) => !injected),
    median: times[Math.floor(times.length / 2)] ?? Number.NaN,
    slowest: times.at(-1) ?? Number.NaN,
  };
}

/** For people, and for the message of an assertion. */
export function shown({ all, failed, median, slowest }: Tally): string {
  const reasons = new Map<string, number>();
  for (const { status, message } of failed) {
    const reason = `${status} ${message}`.replace(/\d+\.\d+\.\d+\.\d+:\d+/g, '<address>');
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const times = `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`;
  const why = [...reasons].map(([reason, count]) => `\n  ${count} times: ${reason}`).join('');
  return `${all} admissions, ${failed.length} failed, ${times}${why}`;
}
