import { readFileSync } from 'node:fs';

/** Nanoseconds since boot, to 10 ms. */
export function bootTime(): bigint {
  const seconds = readFileSync('/proc/uptime', 'latin1').split(' ', 1)[0] ?? '';
  return BigInt(Math.round(Number(seconds) * 100)) * 10_000_000n;
}

/** A time that openings are seen from: later than now by what the clock may lag. */
export const watchingFromNow = (): bigint => bootTime() + 20_000_000n;

/** `SVC_NEVER` of bpf/svc.h. */
export const watchingNever = 2n ** 64n - 1n;
