import { availableParallelism, loadavg } from 'node:os';

/** However busy the machine is, what hangs has to end. */
const most = 4;
/** A virtual machine cannot see how busy its host is, and is ended by that: it has all patience. */
const least = process.env['TEST_IN_VM'] === undefined ? 1 : most;

/**
 * A time-out of a test is chosen for a machine that has nothing else to do. On a busy one it is as many times longer as
 * processes share a processor, at the moment of asking.
 * @returns milliseconds
 */
export function patient(milliseconds: number): number {
  const [lastMinute = 0] = loadavg();
  return milliseconds * Math.min(most, Math.max(least, lastMinute / availableParallelism()));
}

/** Calls `expired` once when that time is over. @returns what stops it */
export function afterPatience(milliseconds: number, expired: () => void): () => void {
  const started = performance.now();
  let timer: NodeJS.Timeout;
  const look = (inMs: number) => {
    timer = setTimeout(() => {
      const leftMs = started + patient(milliseconds) - performance.now();
      if (leftMs > 0) look(leftMs);
      else expired();
    }, inMs);
  };
  look(milliseconds);
  return () => clearTimeout(timer);
}
