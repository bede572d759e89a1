import type { ProtectedProcess } from '../guard/contract.ts';

/**
 * Names a process for good. Start times count to 10 ms, because a guard without programs has them from /proc, which
 * tells no more; no PID comes round in that time.
 */
export function keyOf({ pid, start }: ProtectedProcess): string {
  return `${pid} ${start / tick}`;
}

const tick = 10_000_000n;
