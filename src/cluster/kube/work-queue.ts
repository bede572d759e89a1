import { type Backoff, createBackoff } from '../../runtime/lifecycle/wait.ts';

/** `done`; `again` after a growing pause, as after an error; or again after this many milliseconds. */
export type ReconcileOutcome = 'done' | 'again' | number;

export interface WorkQueueTuning {
  /** Number of keys processed concurrently. */
  readonly workers: number;
  /** Maximum number of keys that wait or are being processed; more are rejected. */
  readonly maxKeys: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

export const defaultQueueTuning: WorkQueueTuning = {
  workers: 4,
  maxKeys: 20_000,
  initialBackoffMs: 200,
  maxBackoffMs: 120_000,
};

export interface WorkQueueOptions {
  /** Never called concurrently for one key. An exception counts as `again`. */
  readonly work: (key: string) => Promise<ReconcileOutcome>;
  /** Once aborted, no more work starts; running work must watch the signal itself. */
  readonly signal: AbortSignal;
  readonly tuning?: Partial<WorkQueueTuning> | undefined;
  /** Called when processing of a key starts, with its delay since the key was due. */
  readonly onBegin?: (key: string, waitedMs: number) => void;
}

/** Keys to process; a waiting key is not added twice. */
export interface WorkQueue {
  /** Schedules a key in `delayMs` (default: now), or earlier if it already was. @returns false if the queue is full */
  add(key: string, delayMs?: number): boolean;
  /** Resolves when there is room or the signal is aborted; never rejects. */
  whenRoom(): Promise<void>;
  /** Number of keys that wait or are being processed. */
  readonly size: number;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}

interface Item {
  readonly key: string;
  state: 'waiting' | 'ready' | 'running';
  /** When the key is or was due; while it is processed, when it is due again if it was added meanwhile. */
  due: number;
  timer: NodeJS.Timeout | undefined;
  /** Undefined after a success. */
  backoff: Backoff | undefined;
}

/** Keys begun before all other work gets its turn, since work that writes nothing ends within it. */
const maxInTurn = 8;

const never = Number.POSITIVE_INFINITY;

/** Processes several keys concurrently, but never one key twice at a time. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { work, signal, onBegin } = options;
  const tuning = { ...defaultQueueTuning, ...options.tuning };
  const items = new Map<string, Item>();
  const ready = new Set<Item>();
  const closed = Promise.withResolvers<void>();
  let running = 0;
  let begunInTurn = 0;
  let room = Promise.withResolvers<void>();

  const wait = (item: Item, due: number) => {
    clearTimeout(item.timer);
    const delayMs = due - performance.now();
    Object.assign(item, { state: 'waiting', due });
    if (delayMs <= 0) makeReady(item);
    else item.timer = setTimeout(() => makeReady(item), delayMs);
  };
  const makeReady = (item: Item) => {
    item.state = 'ready';
    ready.add(item);
    begin();
  };
  const begin = () => {
    for (const item of ready) {
      if (signal.aborted || running >= tuning.workers || begunInTurn >= maxInTurn) return;
      ready.delete(item);
      if (begunInTurn++ === 0) setImmediate(beginTurn);
      void run(item);
    }
  };
  const beginTurn = () => {
    begunInTurn = 0;
    begin();
  };
  const run = async (item: Item) => {
    running++;
    item.state = 'running';
    onBegin?.(item.key, performance.now() - item.due);
    item.due = never;
    const outcome = await work(item.key).catch((): ReconcileOutcome => 'again');
    running--;
    settle(item, outcome);
  };
  const settle = (item: Item, outcome: ReconcileOutcome) => {
    if (signal.aborted) return end();
    const due = Math.min(item.due, performance.now() + pauseAfter(item, outcome, tuning));
    if (due === never) items.delete(item.key);
    else wait(item, due);
    begin();
    if (items.size < tuning.maxKeys) makeRoom();
  };
  const makeRoom = () => {
    room.resolve();
    room = Promise.withResolvers();
  };
  const admit = (key: string): Item | undefined => {
    if (items.size >= tuning.maxKeys) return undefined;
    const item: Item = { key, state: 'waiting', due: never, timer: undefined, backoff: undefined };
    items.set(key, item);
    return item;
  };
  const end = () => {
    for (const { timer } of items.values()) clearTimeout(timer);
    items.clear();
    ready.clear();
    makeRoom();
    if (running === 0) closed.resolve();
  };

  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return {
    add(key, delayMs = 0) {
      if (signal.aborted) return true;
      const item = items.get(key) ?? admit(key);
      if (item === undefined) return false;
      const due = performance.now() + delayMs;
      if (due >= item.due) return true;
      if (item.state === 'running') item.due = due;
      else if (item.state === 'waiting') wait(item, due);
      return true;
    },
    whenRoom: async () => {
      if (items.size >= tuning.maxKeys && !signal.aborted) await room.promise;
    },
    get size() {
      return items.size;
    },
    closed: closed.promise,
  };
}

/** Milliseconds until the key is processed again. */
function pauseAfter(item: Item, outcome: ReconcileOutcome, tuning: WorkQueueTuning): number {
  const { initialBackoffMs: initialMs, maxBackoffMs: maxMs } = tuning;
  if (outcome === 'again') {
    item.backoff ??= createBackoff({ initialMs, maxMs });
    return item.backoff.next();
  }
  item.backoff = undefined;
  return outcome === 'done' ? never : outcome;
}
