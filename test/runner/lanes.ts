import { needsKubernetes } from './testbed.ts';

/** What a suite asks of the host. */
type Kind = 'alone' | 'machine' | 'host' | 'idle' | 'kubernetes' | 'server' | 'plain';

/** What lanes take, first to last: the heavy suites run beside lighter ones, and the shortest ones come last. */
const HEAVY_FIRST: readonly Kind[] = ['machine', 'kubernetes', 'server', 'plain', 'idle', 'host'];
/** What may begin when the machine has time to spare, beside all lanes. */
const SPARE: readonly Kind[] = ['kubernetes', 'server', 'plain'];
const LIGHT_FIRST: readonly Kind[] = ['server', 'plain', 'machine', 'kubernetes', 'idle'];
/**
 * One at a time: each machine takes a processor for itself, and suites that watch or attack the processes of this host
 * would see each other's.
 */
const EXCLUSIVE: readonly Kind[] = ['machine', 'host'];
/** More would be begun at once by the same look at the processors. */
const SPARE_LANES = 2;

export interface LaneOptions {
  /** How many suites run at once; beside them two that wait more than they work, and one that has to do with the host. */
  readonly jobs: number;
  /** Suites that need it begin when this has settled. */
  readonly kubernetes: Promise<unknown>;
  /** Called once nothing runs and nothing is left but suites that wait for Kubernetes. */
  readonly hurry: () => void;
  readonly isIdle: (file: string) => boolean;
  /** Resolves with true when another suite finds time beside those that run, with false once `ended` says so. */
  readonly untilSpareTime: (ended: () => boolean) => Promise<boolean>;
}

/**
 * Runs the files in lanes, and those that want the host for themselves after all others.
 * @returns what `run` gave, in the order in which the files ended
 */
export async function runInLanes<T>(
  files: readonly string[],
  { jobs, kubernetes, hurry, isIdle, untilSpareTime }: LaneOptions,
  run: (file: string) => Promise<T>,
): Promise<T[]> {
  const queue = new Queue(files, isIdle);
  const built = kubernetes.then(() => queue.admitKubernetes());
  const results: T[] = [];
  const next = async (kinds: readonly Kind[]) => {
    const file = queue.take(kinds);
    if (file !== undefined || !queue.isHeldBack(kinds)) return file;
    if (queue.onlyKubernetesIsLeft()) hurry();
    await built;
    return queue.take(kinds);
  };
  const runOne = async (file: string) => {
    results.push(await run(file));
    queue.ended(file);
    if (queue.onlyKubernetesIsLeft()) hurry();
  };
  const lane = async (kinds: readonly Kind[]) => {
    for (let file = await next(kinds); file !== undefined; file = await next(kinds)) await runOne(file);
  };
  const spareLane = async () => {
    while (await untilSpareTime(() => !queue.has(SPARE))) {
      const file = queue.take(SPARE);
      if (file !== undefined) await runOne(file);
    }
  };
  const spareLanes = jobs === 1 ? 0 : SPARE_LANES;
  await Promise.all([...lanesFor(jobs).map(lane), ...Array.from({ length: spareLanes }, spareLane)]);
  await lane(['alone']);
  return results;
}

function lanesFor(jobs: number): (readonly Kind[])[] {
  if (jobs === 1) return [HEAVY_FIRST];
  return [HEAVY_FIRST, ...Array.from({ length: jobs - 1 }, () => LIGHT_FIRST), ['idle'], ['idle'], ['host']];
}

function kindOf(file: string, isIdle: (file: string) => boolean): Kind {
  if (file.endsWith('.alone.server.test.ts')) return 'alone';
  if (file.endsWith('.vm.server.test.ts')) return 'machine';
  if (file.includes('.host.')) return 'host';
  if (isIdle(file)) return 'idle';
  if (needsKubernetes(file)) return 'kubernetes';
  return file.endsWith('.server.test.ts') ? 'server' : 'plain';
}

/** Files that wait, and what keeps them from running now. */
class Queue {
  readonly #waiting: Map<string, Kind>;
  /** Files that run and have their kind for themselves. */
  readonly #exclusive = new Map<string, Kind>();
  #running = 0;
  #kubernetes = false;

  constructor(files: readonly string[], isIdle: (file: string) => boolean) {
    this.#waiting = new Map(files.map((file) => [file, kindOf(file, isIdle)]));
  }

  /** The next one of the first kind that has one. */
  take(kinds: readonly Kind[]): string | undefined {
    const able = [...this.#waiting].filter(([file, kind]) => this.#mayRun(file, kind));
    const found = kinds.map((kind) => able.find(([, one]) => one === kind)).find(Boolean);
    if (found === undefined) return undefined;
    const [file, kind] = found;
    this.#waiting.delete(file);
    this.#running += 1;
    if (EXCLUSIVE.includes(kind)) this.#exclusive.set(file, kind);
    return file;
  }

  /** Whether one of these kinds waits, held back or not. */
  has(kinds: readonly Kind[]): boolean {
    return [...this.#waiting.values()].some((kind) => kinds.includes(kind));
  }

  ended(file: string): void {
    this.#running -= 1;
    this.#exclusive.delete(file);
  }

  admitKubernetes(): void {
    this.#kubernetes = true;
  }

  /** Whether one of these kinds waits for Kubernetes alone. */
  isHeldBack(kinds: readonly Kind[]): boolean {
    const held = [...this.#waiting].some(([file, kind]) => kinds.includes(kind) && needsKubernetes(file));
    return !this.#kubernetes && held;
  }

  /** Whether nothing runs and nothing may begin before Kubernetes is there. */
  onlyKubernetesIsLeft(): boolean {
    const left = [...this.#waiting].filter(([, kind]) => kind !== 'alone').map(([file]) => file);
    return !this.#kubernetes && this.#running === 0 && left.length > 0 && left.every(needsKubernetes);
  }

  #mayRun(file: string, kind: Kind): boolean {
    if (needsKubernetes(file) && !this.#kubernetes) return false;
    return ![...this.#exclusive.values()].includes(kind);
  }
}
