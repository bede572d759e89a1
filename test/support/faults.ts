import type { CutDirection, CutManner } from './types.ts';

export interface Cut {
  readonly bytes: number;
  readonly direction: CutDirection;
  readonly manner: CutManner;
  left: number;
}

export interface CannedAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly when: RegExp;
  left: number;
}

/** What a fault proxy does at this moment; its connections read it at each chunk. */
export interface Faults {
  delayMs: number;
  cut: Cut | undefined;
  canned: CannedAnswer | undefined;
  /** Settles when stalled bytes may flow; undefined when nothing stalls. */
  stalled: Promise<void> | undefined;
  release: () => void;
  readonly stats: Counters;
}

export interface Counters {
  connections: number;
  bytesToServer: number;
  bytesToClient: number;
  answered: number;
}

export function createFaults(): Faults {
  const stats = { connections: 0, bytesToServer: 0, bytesToClient: 0, answered: 0 };
  return {
    delayMs: 0,
    cut: undefined,
    canned: undefined,
    stalled: undefined,
    release: () => undefined,
    stats,
  };
}

/** Stalls every byte until `clear`. */
export function stall(faults: Faults): void {
  if (faults.stalled) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  faults.stalled = promise;
  faults.release = resolve;
}

/** Takes every fault away. */
export function clear(faults: Faults): void {
  faults.delayMs = 0;
  faults.cut = undefined;
  faults.canned = undefined;
  faults.stalled = undefined;
  faults.release();
}
