import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { isText, type KubeClient, type KubeRequest, member, unless } from './client.ts';

/** The content of a Lease (coordination.k8s.io/v1). */
export interface LeaseRecord {
  /** Empty if the lease was released. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** From the writers' clocks: only for display and comparison, never for computing times. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** A record with its object, which is sent back on an update. */
export interface Lease {
  readonly object: Readonly<Record<string, unknown>>;
  readonly record: LeaseRecord;
}

/** Missing members, or those of another type, count as empty: a lease that nobody holds. */
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

/** Assumed maximum difference between the clocks of two machines. */
const skewMs = 60_000;

/**
 * Whether a replica holds the lease and has renewed it recently, judged by times from another machine's clock. For
 * display, not for elections.
 * @param now milliseconds since 1970
 */
export function seemsHeld({ holder, durationSeconds, renewTime }: LeaseRecord, now: number): boolean {
  const age = Math.abs(now - Date.parse(renewTime));
  return holder !== '' && age <= durationSeconds * 1_000 + skewMs;
}

const textOf = (value: unknown): string => (isText(value) ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** The object's `spec`; without a holder for a released lease. */
function specOf(record: LeaseRecord): object {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
}

/** The format that the API requires, with exactly six fractional digits. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

export interface LeaseCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** One Lease on the API server. A write succeeds only if nobody has written since the read. */
export interface LeaseStore {
  /** Undefined if it does not exist. @throws KubeError */
  read(call: LeaseCall): Promise<Lease | undefined>;
  /** @throws KubeError KUBE_CONFLICT if it exists by now */
  create(record: LeaseRecord, call: LeaseCall): Promise<Lease>;
  /** @throws KubeError KUBE_CONFLICT if somebody else has written, KUBE_NOT_FOUND if it was deleted */
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

/** Clocks in milliseconds: a monotonic one, and the wall clock, which continues while the machine sleeps. */
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

/** The time for which a renewal lets this replica lead. It expires before another replica can begin. */
export interface Term extends Leadership {
  /** Milliseconds until this replica's term ends; 0 or less if it is over. */
  remainingMs(): number;
  now(): Moment;
  /** @param sent when the successful renewal was sent, which is not later than the lease's own start */
  extend(sent: Moment): void;
  end(reason: string): void;
}

/** @param lengthMs duration of a term */
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
      // a process that was paused notices the end of its term here before its timer fires
      if (leading && remainingMs() <= 0) end('the lease expired before it was renewed');
      clearTimeout(timer);
      last = sent;
      check();
      if (last === undefined) return;
      if (!leading) log.info('leader.began');
      set(true);
    },
  };
}

/**
 * The longer of both times counts: the monotonic clock stops while the machine sleeps, and the wall clock may be set.
 */
function elapsed(from: Moment, to: Moment): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}

/** A handler that throws must not keep the others from being called. */
function tell(handle: (leading: boolean) => void, leading: boolean, log: Logger): void {
  try {
    handle(leading);
  } catch (error) {
    log.error('leader.handler.failed', describeError(error));
  }
}

export interface Leadership {
  readonly leading: boolean;
  /** Called at each change, and immediately if already leading. @returns a function that removes the handler */
  onChange(handle: (leading: boolean) => void): () => void;
}

/**
 * A client that sends writes only while this replica leads. A process that was paused for longer than its lease first
 * handles responses and timers that became due, and may learn of the end of its term only after some of these.
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
