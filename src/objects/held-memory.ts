import { Budget, type Share } from '../runtime/bounds/budget.ts';
import { type MinPace, Pace } from '../runtime/net/pace.ts';
import { errorCatalog, S3Error } from './s3/error.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Bytes of everything that requests hold, besides what streams, if they keep no plaintext (`--verify-budget`). */
const maxBytes = 32 * MiB;
/** Bytes that the rest may hold while all memory for plaintext is in use. */
const besidePlaintext = 8 * MiB;
/** Bytes by which those that go on in any case may exceed it together. */
const reserveBytes = 16 * MiB;

/**
 * Bytes of one kind at a time, so that a kind that slow callers hold for long leaves room for the others. Who holds one
 * kind asks only for kinds behind it in this list.
 */
const maxOfKind = {
  /** What each request takes, from its arrival until its response has ended. */
  requests: 8 * MiB,
  /** Heads of requests, for as long. */
  heads: 12 * MiB,
  /** Bodies that arrive while their requests wait for a slot. */
  waiting: 8 * MiB,
  /** Bodies of callers that are read as a whole. */
  bodies: 8 * MiB,
  /** Ciphertext of bodies of unknown length, on its way to memory or disk. */
  spools: 8 * MiB,
  /** Helper objects that DeleteBucket may have to restore. */
  surveys: 12 * MiB,
  /** Answers of the store to callers' requests that are read as a whole. */
  answers: 6 * MiB,
  /** Parts that a Complete or a ListParts asks for, with their records. */
  records: 16 * MiB,
  /** Keys of helper objects to delete. */
  removals: 4 * MiB,
  /** Part lists of objects. */
  lists: 20 * MiB,
  /** Records of rewrapped keys. */
  rewraps: 8 * MiB,
  /** Pages of helper objects' listings, and answers to their deletion. */
  pages: 6 * MiB,
};

export type HeldKind = keyof typeof maxOfKind;

/** What is taken for a thing; parsed forms take several times their bytes on the wire. */
export const memoryCosts = {
  /** A request and its response, with what an error repeats of it. */
  request: 8 * KiB,
  /** A header and each byte of a head: as received, by name, and with what was signed. */
  header: 300,
  headByte: 2,
  /** For each byte of a body, and its parsed form. */
  bodyByte: 2,
  /** The block that collects the ciphertext of a body of unknown length. */
  spool: 64 * KiB,
  /** An answer that begins: what the kernel buffers, and its first bytes. */
  answer: 384 * KiB,
  answerFirstBytes: 32 * KiB,
  /** For each further byte of an answer, and its parsed form. */
  answerByte: 3,
  /** A part that a Complete names: its record, and its place in manifest and request. */
  completedPart: 1_400,
  /** A part that ListParts shows. */
  listedPart: 800,
  /** What DeleteBucket keeps, one at a time. */
  survey: 12 * MiB,
  /** The keys of helper objects that are deleted together. */
  removal: 512 * KiB,
  /** For each byte of a manifest while it is read, and while its list is used. */
  manifestByte: 5,
  listByte: 2,
} as const;

/** Bytes of a budget that plaintext has its part in. @param plaintext its bytes, `--verify-budget` */
export const bytesWithPlaintext = (plaintext: number): number =>
  Math.max(maxBytes, plaintext + besidePlaintext);

/** Milliseconds after which a request that waits for memory gets SlowDown. */
const maxWaitMs = 20_000;

/** Of callers that others wait for: 51 KiB/s, measured by the largest write. */
const minPace: MinPace = { bytes: 256 * KiB, ms: 5_000 };
const paceCheckMs = 500;

/** No memory became free in time: callers retry, and asking the store again would help nobody. */
export class MemorySpent extends S3Error {
  constructor() {
    super('SlowDown', ...errorCatalog.SlowDown);
  }
}

/** Memory that a request, or what several requests share, holds of one kind. */
export interface HeldMemory {
  /**
   * Resolves once `bytes` more may be held. @throws MemorySpent if that takes too long; the abort reason of the signal
   */
  take(bytes: number): Promise<void>;
  /** @returns false if there is no room at once */
  tryTake(bytes: number): boolean;
  /** Returns this many bytes, at most what is held; default: all. Safe to call at any time. */
  release(bytes?: number): void;
}

/** At the other end of a request. */
export interface PacedCaller {
  /** Bytes that have moved between it and this process. */
  moved(): number;
  /** Disconnects it. */
  end(): void;
}

/**
 * The memory that all requests of a process may hold. Those that do not fit wait, the smallest first, so that large ones
 * do not hold up others. Of each kind, the one that began first proceeds even if the others hold all, within a reserve,
 * so that there is progress: it may need more to come to its end.
 */
export class MemoryBudget {
  readonly #whole: Budget;
  readonly #kinds = new Map<HeldKind, Kind>();

  constructor(bytes = maxBytes) {
    this.#whole = new Budget(bytes);
  }

  /** A budget of its own rules within this one. */
  partFor(bytes: number): Budget {
    return new Budget(bytes, 'first', this.#whole);
  }

  get used(): number {
    return this.#whole.used;
  }

  /** @param signal its abort ends the waiting */
  hold(kind: HeldKind, signal?: AbortSignal): HeldMemory {
    return new Hold(this.#kind(kind), signal);
  }

  /**
   * Does work that holds memory of this kind and is as fast as the caller. While others wait for that memory, the caller
   * that has been slow for the longest is disconnected.
   */
  atPaceOf<T>(caller: PacedCaller, kind: HeldKind, work: () => Promise<T>): Promise<T> {
    return this.#kind(kind).atPaceOf(caller, work);
  }

  #kind(name: HeldKind): Kind {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const budget = new Budget(maxOfKind[name], 'smallest', this.#whole);
    const kind = new Kind(budget, () => this.#serveFirsts());
    this.#kinds.set(name, kind);
    return kind;
  }

  /** What one kind gives back may be what the first of another one waits for. */
  #serveFirsts(): void {
    for (const kind of this.#kinds.values()) kind.serveFirst();
  }
}

class Kind {
  readonly budget: Budget;
  /** In order of their first request. */
  readonly holds = new Set<Hold>();
  /** Called when memory of this kind, or a place in it, has become free. */
  readonly freed: () => void;
  readonly #paces = new Map<PacedCaller, Pace>();
  #timer: NodeJS.Timeout | undefined;

  constructor(budget: Budget, freed: () => void) {
    this.budget = budget;
    this.freed = freed;
  }

  serveFirst(): void {
    if (this.budget.waiting === 0) return;
    const [first] = this.holds;
    first?.force();
  }

  async atPaceOf<T>(caller: PacedCaller, work: () => Promise<T>): Promise<T> {
    this.#paces.set(caller, new Pace(minPace, caller.moved()));
    try {
      return await work();
    } finally {
      this.#paces.delete(caller);
    }
  }

  /** Call it when somebody begins to wait. */
  watchPaces(): void {
    this.#timer ??= setInterval(() => this.#checkPaces(), paceCheckMs).unref();
  }

  #checkPaces(): void {
    if (this.budget.waiting === 0) this.#timer = void clearInterval(this.#timer);
    else this.#endSlowest();
  }

  #endSlowest(): void {
    let slowest: PacedCaller | undefined;
    let slowestSince = Number.POSITIVE_INFINITY;
    for (const [caller, pace] of this.#paces) {
      const since = pace.slowSince(caller.moved()) ?? Number.POSITIVE_INFINITY;
      if (since >= slowestSince) continue;
      slowest = caller;
      slowestSince = since;
    }
    slowest?.end();
  }
}

class Hold implements HeldMemory {
  readonly #kind: Kind;
  readonly #signal: AbortSignal | undefined;
  readonly #shares: Share[] = [];

  constructor(kind: Kind, signal: AbortSignal | undefined) {
    this.#kind = kind;
    this.#signal = signal;
  }

  async take(bytes: number): Promise<void> {
    const share = this.#ask(bytes);
    if (!share.waits) return;
    this.#kind.watchPaces();
    let reason: unknown = new MemorySpent();
    const late = setTimeout(() => share.giveUp(), maxWaitMs);
    const onAbort = () => {
      reason = this.#signal?.reason;
      share.giveUp();
    };
    this.#signal?.addEventListener('abort', onAbort, { once: true });
    if (this.#signal?.aborted) onAbort();
    const granted = await share.granted;
    clearTimeout(late);
    this.#signal?.removeEventListener('abort', onAbort);
    if (granted) return;
    this.#leaveIfEmpty();
    throw reason;
  }

  tryTake(bytes: number): boolean {
    if (!this.#ask(bytes).giveUp()) return true;
    this.#leaveIfEmpty();
    return false;
  }

  release(bytes = Number.POSITIVE_INFINITY): void {
    let left = bytes;
    for (const share of this.#shares.splice(0)) {
      const given = Math.min(left, share.held);
      left -= given;
      if (share.waits && bytes === Number.POSITIVE_INFINITY) share.giveUp();
      share.release(given);
      if (share.waits || share.held > 0) this.#shares.push(share);
    }
    this.#leaveIfEmpty();
  }

  /** Grants what waits, within the reserve. */
  force(): void {
    for (const share of this.#shares) share.force(reserveBytes);
  }

  #ask(bytes: number): Share {
    const share = this.#kind.budget.ask(bytes);
    this.#shares.push(share);
    this.#kind.holds.add(this);
    this.#kind.serveFirst();
    return share;
  }

  #leaveIfEmpty(): void {
    if (!this.#shares.some((share) => share.waits || share.held > 0)) this.#kind.holds.delete(this);
    this.#kind.freed();
  }
}

/** The memory of one request, by kind. */
export class RequestMemory {
  readonly #budget: MemoryBudget;
  readonly #signal: AbortSignal;
  readonly #caller: PacedCaller | undefined;
  readonly #holds = new Map<HeldKind, HeldMemory>();

  /** @param caller absent: the request is the process's own */
  constructor(budget: MemoryBudget, signal: AbortSignal, caller?: PacedCaller) {
    this.#budget = budget;
    this.#signal = signal;
    this.#caller = caller;
  }

  of(kind: HeldKind): HeldMemory {
    const held = this.#holds.get(kind) ?? this.#budget.hold(kind, this.#signal);
    this.#holds.set(kind, held);
    return held;
  }

  /** Does work that holds memory of this kind and waits for the caller only. */
  atCallersPace<T>(kind: HeldKind, work: () => Promise<T>): Promise<T> {
    return this.#caller === undefined ? work() : this.#budget.atPaceOf(this.#caller, kind, work);
  }

  /** At the end of the request. */
  release(): void {
    for (const held of this.#holds.values()) held.release();
  }
}
