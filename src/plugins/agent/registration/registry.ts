import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import type { ProtectionReport } from '../../../runtime/protocols/protection/report.ts';
import type { Guard, ProtectedProcess } from '../guard/contract.ts';

interface Entry {
  process: ProtectedProcess;
  /**
   * Whether the process registered or reported itself; otherwise an earlier agent protected it or one of its parents.
   */
  own: boolean;
  report?: ProtectionReport;
}

/** Minimum number of new entries between two sweeps. */
const leastSweep = 256;

/** The registered processes that still exist, with the newest report of each. */
export class Registry {
  readonly #guard: Guard;
  readonly #capacity: number;
  /** Read by `peek` only, to keep the order of registration. */
  readonly #entries: BoundedMap<string, Entry>;
  #untilSweep: number;
  #adopted = false;

  /** @param capacity beyond which the process that registered first is forgotten; it stays protected */
  constructor(guard: Guard, capacity = 16_384) {
    this.#guard = guard;
    this.#capacity = capacity;
    this.#entries = new BoundedMap(capacity);
    this.#untilSweep = Math.min(leastSweep, capacity);
  }

  /** @returns whether the process is new */
  add(process: ProtectedProcess): boolean {
    this.#adopt();
    const known = this.#entries.peek(keyOf(process));
    if (known === undefined) this.#insert(process, true);
    else if (known.own) return false;
    else known.own = true;
    return true;
  }

  /** @returns whether the process is known: it was added here, or an earlier agent left it protected */
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

  /** Adopts what an earlier agent protected, once, when the guard has programs and thus knows. */
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
 * Identifies a process. Start times are compared to 10 ms, because without programs the guard takes them from /proc,
 * which is no more precise; no PID is reused within that time.
 */
export function keyOf({ pid, start }: ProtectedProcess): string {
  return `${pid} ${start / tick}`;
}

const tick = 10_000_000n;
