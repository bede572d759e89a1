import { newMarker } from '../../../../support/bypass/victim.ts';
import type { LogLine } from '../../../../support/log-lines.ts';
import type { SvcAgent } from '../../../../support/svc-agent.ts';
import type { LoggedRequest } from '../../../../support/types.ts';
import type { KeyServer } from './key-server.ts';
import type { Machine } from './machine.ts';
import { type Stalked, type Success, startReaders, type Watched } from './readers.ts';
import { prepareStarts } from './starts.ts';

export interface OrderRecord {
  readonly kind: 'order';
  readonly name: string;
  /** Of the wrapper. */
  readonly starts: number;
  /** Of applications, the first of each wrapper included. */
  readonly applications: number;
  readonly registered: number;
  /** What came in another order than it has to. */
  readonly disorder: readonly string[];
  /** Reads that succeeded and got the secret, by their way. */
  readonly leaked: Readonly<Record<string, number>>;
  /** Reads of a wrapper before it had registered. */
  readonly readBefore: number;
  /** Reads that succeeded of a wrapper that had registered, or of anything below it. */
  readonly readAfter: readonly LateSuccess[];
  readonly stalked: Stalked;
  readonly watched: Watched;
  readonly milliseconds: number;
}

export interface LateSuccess extends Success {
  /** In ms after the agent had logged the registration. */
  readonly lateBy: number;
}

export interface OrderOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly keys: KeyServer;
  /** None: the wrapper has no agent either. */
  readonly agent?: SvcAgent;
  readonly starts: number;
  readonly rotations: number;
}

/** Starts wrappers while attackers try everything below them, and says in which order things came. */
export async function runOrder(options: OrderOptions): Promise<OrderRecord> {
  const { name, machine, keys, agent, starts, rotations } = options;
  const began = performance.now();
  const marker = newMarker();
  const earlier = agent?.events('registered').length ?? 0;
  const prepared = await prepareStarts({ machine, keys, address: agent?.address, starts, rotations, marker });
  const readers = await startReaders(machine.bypass, prepared.shell, marker, machine.tier !== 3);
  try {
    const { begun, lines } = await prepared.run();
    const { successes, stalked, watched } = await readers.end();
    const registered = (agent?.events('registered') ?? []).slice(earlier).map(asRegistered);
    return {
      ...{ kind: 'order', name, starts: lines.filter(({ event }) => event === 'starting').length },
      applications: lines.filter(({ event }) => event === 'application.started').length,
      registered: registered.length,
      disorder: agent ? disorderIn(runsIn(lines), registered, keys.requests) : [],
      leaked: countBy(successes.filter(({ leaked }) => leaked)),
      ...readsAround(successes, registered, begun),
      ...{ stalked, watched, milliseconds: Math.round(performance.now() - began) },
    };
  } finally {
    await prepared.stop();
  }
}

/** Logs have whole milliseconds. */
const logPrecision = 1;

interface RegisteredProcess {
  readonly pid: number;
  /** In ms since the epoch: it was covered by then. */
  readonly at: number;
}

const asRegistered = ({ pid, time }: Readonly<Record<string, unknown>>): RegisteredProcess => ({
  pid: Number(pid),
  at: Date.parse(String(time)),
});

/** The log lines of each start. */
function runsIn(lines: readonly LogLine[]): LogLine[][] {
  const runs: LogLine[][] = [];
  for (const line of lines) {
    if (line.event === 'starting') runs.push([]);
    runs.at(-1)?.push(line);
  }
  return runs;
}

/** Registered, then the first request; the last secret, then the application. */
function disorderIn(
  runs: readonly (readonly LogLine[])[],
  registered: readonly RegisteredProcess[],
  requests: readonly LoggedRequest[],
): string[] {
  const timeOf = (run: readonly LogLine[] | undefined, event: string) =>
    Date.parse(String(run?.find((line) => line.event === event)?.['time']));
  return runs.flatMap((run, index) => {
    const [from, to] = [
      timeOf(run, 'starting'),
      timeOf(runs[index + 1], 'starting') || Number.POSITIVE_INFINITY,
    ];
    const within = ({ at }: { readonly at: number }) => at >= from && at < to;
    const mine = requests.filter(within);
    const fetched = mine.find(({ path }) => path.includes('/secret/data/app'))?.at ?? Number.NaN;
    const order = {
      registered: registered.find(within)?.at ?? Number.NaN,
      'first request': mine[0]?.at ?? Number.NaN,
      'secret asked for': fetched,
      'secrets fetched': timeOf(run, 'secrets.fetched'),
      'application started': timeOf(run, 'application.started'),
    };
    const times = Object.values(order);
    const inOrder = times.every(
      (time, n) => !Number.isNaN(time) && (n === 0 || time >= Number(times[n - 1])),
    );
    return inOrder ? [] : [JSON.stringify({ start: index, ...order })];
  });
}

function readsAround(
  successes: readonly Success[],
  registered: readonly RegisteredProcess[],
  begun: number,
): Pick<OrderRecord, 'readBefore' | 'readAfter'> {
  const coveredFrom = new Map(registered.map(({ pid, at }) => [pid, at]));
  // who comes after the first wrapper and never registers is below one
  const first = Math.min(...coveredFrom.values());
  const below = successes.filter(({ at }) => at >= begun);
  const readAfter = below
    .map((success) => ({ ...success, lateBy: success.at - (coveredFrom.get(success.pid) ?? first) }))
    .filter(({ lateBy }) => lateBy > logPrecision);
  return { readBefore: below.length - readAfter.length, readAfter };
}

function countBy(successes: readonly Success[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { way } of successes) counts[way] = (counts[way] ?? 0) + 1;
  return counts;
}
