import { describeError, type Logger } from '../logging/logger.ts';
import { isText, type KubeClient, type KubeRequest, member, unless } from './client.ts';

/** Who leads, as a Lease (coordination.k8s.io/v1) says it. */
export interface LeaseRecord {
  /** Empty where it was given up. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** By the clocks of their writers: shown to people, and told apart, never reckoned with. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** A record as it was read, with the object around it, which is sent back when it is updated. */
export interface Lease {
  readonly object: Readonly<Record<string, unknown>>;
  readonly record: LeaseRecord;
}

/** What is missing or of another type counts as empty: a lease that nobody holds. */
export function readLease(object: unknown): Lease {
  const spec = member(object, 'spec');
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  const record = {
    holder: textOf(holderIdentity),
    durationSeconds: numberOf(leaseDurationSeconds),
    acquireTime: textOf(acquireTime),
    renewTime: textOf(renewTime),
    transitions: numberOf(leaseTransitions),
  };
  return { object: object as Readonly<Record<string, unknown>>, record };
}

/** Clocks of two machines differ. */
const skewMs = 60_000;

/**
 * Whether somebody holds it and has renewed it lately, as far as another machine's clock can tell: to be shown, and
 * nothing to elect by.
 * @param now milliseconds since 1970
 */
export function seemsHeld({ holder, durationSeconds, renewTime }: LeaseRecord, now: number): boolean {
  const age = Math.abs(now - Date.parse(renewTime));
  return holder !== '' && age <= durationSeconds * 1_000 + skewMs;
}

const textOf = (value: unknown): string => (isText(value) ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** The `spec` of the object; without a holder, as one that is given up is written. */
function specOf(record: LeaseRecord): object {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
}

/** As the API wants times of a lease: six digits of a second, no more and no fewer. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

export interface LeaseCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** One Lease at the API server. Writes succeed only over what was read. */
export interface LeaseStore {
  /** Undefined where there is none. @throws KubeError */
  read(call: LeaseCall): Promise<Lease | undefined>;
  /** @throws KubeError KUBE_CONFLICT where there is one by now */
  create(record: LeaseRecord, call: LeaseCall): Promise<Lease>;
  /** @throws KubeError KUBE_CONFLICT where somebody else has written, KUBE_NOT_FOUND where it is gone */
  update(lease: Lease, record: LeaseRecord, call: LeaseCall): Promise<Lease>;
}

const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

export function createLeaseStore(client: KubeClient, namespace: string, name: string): LeaseStore {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  return {
    async read(call) {
      const lease = await unless(client.request({ path, ...call }), 'KUBE_NOT_FOUND');
      return lease === undefined ? undefined : readLease(lease);
    },
    async create(record, call) {
      const body = { ...kind, metadata: { namespace, name }, spec: specOf(record) };
      return readLease(await client.request({ method: 'POST', path: collection, body, ...call }));
    },
    async update({ object }, record, call) {
      const body = { ...object, ...kind, spec: specOf(record) };
      return readLease(await client.request({ method: 'PUT', path, body, ...call }));
    },
  };
}

/** Two clocks in milliseconds: one that only grows, and the one on the wall, which goes on while a machine sleeps. */
export interface ElectorClocks {
  monotonic(): number;
  wall(): number;
}

export const systemClocks: ElectorClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** The time for which a renewal lets us lead. It ends by itself, before anybody else can begin theirs. */
export interface Term extends Leadership {
  /** Where a term was, or still is, ours: until when, in milliseconds from now; 0 or less when it is over. */
  remainingMs(): number;
  now(): Moment;
  /** @param sent when the renewal that succeeded was sent: the lease is not older than that */
  extend(sent: Moment): void;
  end(reason: string): void;
}

/** @param lengthMs how long a renewal holds */
export function createTerm(lengthMs: number, clocks: ElectorClocks, log: Logger): Term {
  const handlers = new Set<(leading: boolean) => void>();
  let last: Moment | undefined;
  let leading = false;
  let timer: NodeJS.Timeout | undefined;

  const now = () => ({ monotonic: clocks.monotonic(), wall: clocks.wall() });
  const remainingMs = () => (last === undefined ? 0 : lengthMs - elapsed(last, now()));
  const set = (next: boolean) => {
    if (leading === next) return;
    leading = next;
    for (const handle of [...handlers]) tell(handle, next, log);
  };
  const end = (reason: string) => {
    clearTimeout(timer);
    last = undefined;
    if (leading) log.warn('leader.lost', { reason });
    set(false);
  };
  const check = () => {
    const left = remainingMs();
    if (left <= 0) return end('the lease could not be renewed in time');
    timer = setTimeout(check, left);
  };
  return {
    get leading() {
      return leading && remainingMs() > 0;
    },
    onChange(handle) {
      handlers.add(handle);
      if (leading) tell(handle, true, log);
      return () => void handlers.delete(handle);
    },
    ...{ now, remainingMs, end },
    extend(sent) {
      // a process that stood still finds its term over before its timer does
      if (leading && remainingMs() <= 0) end('the term was over before it was renewed');
      clearTimeout(timer);
      last = sent;
      check();
      if (last === undefined) return;
      if (!leading) log.info('leader.began');
      set(true);
    },
  };
}

/** A sleep of the machine stops the one clock, a step of the other makes the term too short: the longer time counts. */
function elapsed(from: Moment, to: Moment): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}

/** A handler that throws must not keep others from being told. */
function tell(handle: (leading: boolean) => void, leading: boolean, log: Logger): void {
  try {
    handle(leading);
  } catch (error) {
    log.error('leader.handler.failed', describeError(error));
  }
}

/** Whether this replica leads. */
export interface Leadership {
  readonly leading: boolean;
  /** Called with each change, at once where it leads already; returns what ends that. */
  onChange(handle: (leading: boolean) => void): () => void;
}

/**
 * A client that sends writes only while this replica leads. A process that stood still for longer than its lease goes on
 * with answers and timers that were due meanwhile, and hears of the end of its term only after some of them.
 */
export function leadersClient(client: KubeClient, leadership: Leadership): KubeClient {
  const leading = () => leadership.leading;
  const fenced = (request: KubeRequest): KubeRequest =>
    (request.method ?? 'GET') === 'GET' ? request : { ...request, leading };
  return {
    ...client,
    request: (request) => client.request(fenced(request)),
    read: (request, use) => client.read(fenced(request), use),
  };
}
