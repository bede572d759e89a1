import { BoundedMap } from '../../../core/bounded-map.ts';
import type { ProtectionReport } from '../../../core/protection/report.ts';
import type { Guard, ProtectedProcess } from '../guard/contract.ts';

interface Entry {
  process: ProtectedProcess;
  /** It registered or reported itself; else an earlier agent protected it, or one of its parents. */
  own: boolean;
  report?: ProtectionReport;
}

/** So many newcomers at least between two looks at all. */
const leastSweep = 256;

/** The processes that registered and are still there, with the newest report of each. */
export class Registry {
  readonly #guard: Guard;
  readonly #capacity: number;
  /** Looked at by `peek` alone, so that the order of registration stays. */
  readonly #entries: BoundedMap<string, Entry>;
  #untilSweep: number;
  #adopted = false;

  /** @param capacity beyond it the process that registered first is forgotten; it stays protected */
  constructor(guard: Guard, capacity = 16_384) {
    this.#guard = guard;
    this.#capacity = capacity;
    this.#entries = new BoundedMap(capacity);
    this.#untilSweep = Math.min(leastSweep, capacity);
  }

  /** @returns whether it is new */
  add(process: ProtectedProcess): boolean {
    this.#adopt();
    const known = this.#entries.peek(keyOf(process));
    if (known === undefined) this.#insert(process, true);
    else if (known.own) return false;
    else known.own = true;
    return true;
  }

  /** @returns whether the process was added here, or left protected by an earlier agent */
  report(report: ProtectionReport): boolean {
    this.#adopt();
    const entry = this.#entries.peek(keyOf(report));
    if (entry !== undefined) Object.assign(entry, { own: true, report });
    return entry !== undefined;
  }

  reports(): readonly ProtectionReport[] {
    return this.#live().flatMap(({ process, report }) => (report ? { ...report, ...process } : []));
  }

  processes(): readonly ProtectedProcess[] {
    return this.#live().map(({ process }) => process);
  }

  /** The guard knows what an earlier agent left once it has programs. */
  #adopt(): void {
    const { tier = 4 } = this.#guard.status;
    if (this.#adopted || tier === 4) return;
    this.#adopted = true;
    for (const process of this.#guard.processes()) this.#insert(process, false);
  }

  #insert({ pid, start }: ProtectedProcess, own: boolean): void {
    if (this.#untilSweep === 0) this.#forgetGone();
    this.#untilSweep -= 1;
    this.#entries.set(keyOf({ pid, start }), { process: { pid, start }, own });
  }

  #live(): Entry[] {
    this.#forgetGone();
    return [...this.#entries].map(([, entry]) => entry).filter(({ own }) => own);
  }

  #forgetGone(): void {
    for (const [key, entry] of this.#entries) {
      const { pid } = entry.process;
      const start = this.#guard.inspect(pid)?.start;
      if (start === undefined || keyOf({ pid, start }) !== key) this.#entries.delete(key);
      else entry.process = { pid, start };
    }
    this.#untilSweep = Math.min(Math.max(leastSweep, this.#entries.size), this.#capacity);
  }
}

/**
 * Names a process for good. Start times count to 10 ms, because a guard without programs has them from /proc, which
 * tells no more; no PID comes round in that time.
 */
export function keyOf({ pid, start }: ProtectedProcess): string {
  return `${pid} ${start / tick}`;
}

const tick = 10_000_000n;
