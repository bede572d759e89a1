import { randomBytes } from 'node:crypto';
import { createBackoff, sleep } from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { hasCode, type KubeClient } from './client.ts';
import {
  createLeaseStore,
  createTerm,
  type ElectorClocks,
  type Leadership,
  type Lease,
  type LeaseCall,
  type LeaseRecord,
  type LeaseStore,
  microTime,
  systemClocks,
  type Term,
} from './lease.ts';

export interface Elector extends Leadership {
  /** Resolves once the signal was aborted and the lease released, or after a second if that fails; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Takes part in a leader election over a Lease, like client-go: this replica takes a lease that nobody holds, or that
 * has not changed for its own duration by this machine's clock.
 * @throws RangeError for contradictory times
 */
export function createElector(options: ElectorOptions): Elector {
  const { client, namespace, name, signal, clocks = systemClocks } = options;
  const times = electorTimes(options);
  const identity = `${options.identity}_${randomBytes(4).toString('hex')}`;
  const log = options.log.child({ lease: `${namespace}/${name}`, identity });
  const term = createTerm(times.renewMs, clocks, log);
  const observation = observeLease(clocks.monotonic);
  const store = createLeaseStore(client, namespace, name);
  const { takeOver } = options;
  const candidate = new Candidate({ store, observation, term, times, identity, takeOver, log });
  const backoff = createBackoff({ initialMs: times.retryMs, maxMs: times.leaseMs });

  const attempt = async (): Promise<number> => {
    try {
      await candidate.attempt(signal);
      backoff.reset();
      return jittered(times.retryMs);
    } catch (error) {
      if (signal.aborted) return 0;
      const delayMs = term.leading ? jittered(times.retryMs) : backoff.next();
      log.warn('leader.attempt.failed', { ...describeError(error), retryInMs: Math.round(delayMs) });
      return delayMs;
    }
  };
  const run = async () => {
    while (!signal.aborted) await sleep(await attempt(), signal).catch(() => {});
    await candidate.giveUp();
  };
  // immediately, even during an attempt
  signal.addEventListener('abort', () => term.end('this replica ends'), { once: true });
  const closed = run();
  return {
    get leading() {
      return term.leading;
    },
    onChange: term.onChange,
    closed,
  };
}

/** Adds up to a fifth, so that replicas do not ask at the same time. */
const jittered = (milliseconds: number): number => milliseconds * (1 + Math.random() / 5);

const farewellMs = 1_000;
const farewellAttempts = 3;

export interface CandidateParts {
  readonly store: LeaseStore;
  readonly observation: LeaseObservation;
  readonly term: Term;
  readonly times: ElectorTimes;
  /** Holder in the lease while this replica holds it. */
  readonly identity: string;
  /** Takes the lease once, even if another replica holds it. If two replicas do, the later one leads. */
  readonly takeOver?: boolean | undefined;
  readonly log: Logger;
}

/** One replica's part in the election. Calls of its methods must not overlap. */
class Candidate {
  readonly #parts: CandidateParts;
  #lease: Lease | undefined;
  #holder = '';
  /** True after a write, which the API server may have stored even if its response was lost. */
  #mayBeOurs = false;
  #mayTakeOver: boolean;

  constructor(parts: CandidateParts) {
    this.#parts = parts;
    this.#mayTakeOver = parts.takeOver ?? false;
  }

  /** Renews the lease if this replica holds it, or takes it if it is free. @throws KubeError */
  async attempt(signal: AbortSignal): Promise<void> {
    const { store, term, times } = this.#parts;
    const call = { signal, timeoutMs: times.renewMs / 2 };
    if (term.leading && (await this.#renewKnown(call))) return;
    this.#lease = undefined;
    const lease = await store.read(call);
    this.#look(lease);
    if (!this.#mayTakeOver && !this.#isFree(lease)) return;
    await this.#take(lease, call);
    this.#mayTakeOver = false;
  }

  /** Releases the lease, so that the next leader begins at once. Gives up after a second. */
  async giveUp(): Promise<void> {
    if (!this.#mayBeOurs) return;
    const call = { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs };
    for (let attempt = 1; attempt <= farewellAttempts; attempt++) {
      try {
        return await this.#release(call);
      } catch (error) {
        if (hasCode(error, 'KUBE_CONFLICT') && attempt < farewellAttempts) continue;
        return this.#parts.log.warn('leader.release.failed', describeError(error));
      }
    }
  }

  async #release(call: LeaseCall): Promise<void> {
    const { store, identity, log } = this.#parts;
    const lease = await store.read(call);
    if (lease?.record.holder !== identity) return;
    await store.update(lease, { ...this.#record(lease), holder: '', durationSeconds: 1 }, call);
    log.info('leader.released');
  }

  /** Does not read the lease first, as no other replica should write it. False if one has. */
  async #renewKnown(call: LeaseCall): Promise<boolean> {
    if (this.#lease === undefined) return false;
    try {
      await this.#take(this.#lease, call);
      return true;
    } catch (error) {
      if (hasCode(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }

  #look(lease: Lease | undefined): void {
    const { term, observation, identity, log } = this.#parts;
    if (lease === undefined) return;
    const { holder } = lease.record;
    observation.see(lease.record);
    if (holder !== identity) {
      this.#mayBeOurs = false;
      term.end('another replica holds the lease');
    }
    if (holder !== this.#holder && holder !== '' && holder !== identity) log.info('leader.other', { holder });
    this.#holder = holder;
  }

  /**
   * A deleted lease still binds the replicas that saw it, because its holder may not know of the deletion. Other
   * replicas cannot know of it.
   */
  #isFree(lease: Lease | undefined): boolean {
    const { observation, identity } = this.#parts;
    return (lease?.record.holder ?? this.#holder) === identity || observation.mayBeTaken();
  }

  async #take(lease: Lease | undefined, call: LeaseCall): Promise<void> {
    const { store, term, observation } = this.#parts;
    const record = this.#record(lease);
    const sent = term.now();
    this.#mayBeOurs = true;
    this.#lease =
      lease === undefined ? await store.create(record, call) : await store.update(lease, record, call);
    call.signal.throwIfAborted();
    observation.see(this.#lease.record);
    this.#holder = record.holder;
    term.extend(sent);
  }

  #record(lease: Lease | undefined): LeaseRecord {
    const { term, times, identity } = this.#parts;
    const now = microTime(term.now().wall);
    const isOurs = lease?.record.holder === identity;
    return {
      holder: identity,
      durationSeconds: Math.ceil(times.leaseMs / 1_000),
      acquireTime: isOurs ? lease.record.acquireTime : now,
      renewTime: now,
      transitions: (lease?.record.transitions ?? -1) + (isOurs ? 0 : 1),
    };
  }
}

/**
 * How long a lease has been unchanged by this machine's clock. Times in the lease come from clocks of other machines,
 * which may be wrong by any amount.
 */
interface LeaseObservation {
  /** Records the lease as just read or written. */
  see(record: LeaseRecord): void;
  /** True if no holder can still believe that it holds the lease, and if no lease was ever seen. */
  mayBeTaken(): boolean;
}

/** @param clock monotonic milliseconds */
function observeLease(clock: () => number): LeaseObservation {
  let seen: LeaseRecord | undefined;
  let since = 0;
  return {
    see(record) {
      if (seen !== undefined && isSame(seen, record)) return;
      seen = record;
      since = clock();
    },
    mayBeTaken() {
      if (seen === undefined || seen.holder === '') return true;
      return clock() - since > seen.durationSeconds * 1_000;
    },
  };
}

function isSame(one: LeaseRecord, other: LeaseRecord): boolean {
  return (
    one.holder === other.holder &&
    one.renewTime === other.renewTime &&
    one.acquireTime === other.acquireTime &&
    one.durationSeconds === other.durationSeconds &&
    one.transitions === other.transitions
  );
}

export interface ElectorOptions {
  readonly client: KubeClient;
  /** Namespace of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Name of this replica. A random suffix is appended, so that a restarted replica is a different one. */
  readonly identity: string;
  /** How long other replicas respect an unrenewed lease. Default: 15 s; written in whole seconds. */
  readonly leaseMs?: number;
  /**
   * How long this replica leads after a renewal; shorter than the lease, so that its term ends before another begins.
   * Default: 10 s.
   */
  readonly renewMs?: number;
  /** Approximate time between two attempts. Default: 2 s. */
  readonly retryMs?: number;
  /** Takes the lease once at startup, even if another replica holds it. Default: false. */
  readonly takeOver?: boolean;
  readonly log: Logger;
  /** When aborted, this replica stops leading and releases the lease. */
  readonly signal: AbortSignal;
  /** Default: the machine's clocks. */
  readonly clocks?: ElectorClocks;
}

interface ElectorTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** @throws RangeError unless retry < renewal < lease, because otherwise two replicas could lead at once */
function electorTimes(options: Partial<ElectorTimes>): ElectorTimes {
  const { leaseMs = 15_000, renewMs = 10_000, retryMs = 2_000 } = options;
  if (retryMs > 0 && retryMs < renewMs && renewMs < leaseMs) return { leaseMs, renewMs, retryMs };
  throw new RangeError(
    `Leader election: needs 0 < retry < renewal < lease, not ${retryMs}, ${renewMs}, ${leaseMs}`,
  );
}
