import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** A virtual machine cannot see how busy its host is, and is ended by that: it has all patience. */
const isGuest = process.env['TEST_IN_VM'] !== undefined;
const maxPatience = 4;
/** However busy the machine is, what hangs has to end. */
const maxWait = 16;

/**
 * A bound that a test measures against is chosen for a machine that has nothing else to do. On a busy one it is as many
 * times longer as processes share a processor, at the moment of asking.
 * @returns milliseconds
 */
export function patient(milliseconds: number): number {
  return milliseconds * Math.min(maxPatience, Math.max(isGuest ? maxPatience : 1, processesPerProcessor()));
}

/**
 * A bound that only ends what hangs, and says nothing of how fast anything has to be. Processes whose processor time is
 * limited wait without being counted among those that want to run, so that the limit counts too.
 * @returns milliseconds
 */
export function generous(milliseconds: number): number {
  const least = Math.max(2, 4 / processors);
  return milliseconds * Math.min(maxWait, isGuest ? maxWait : Math.max(least, processesPerProcessor()));
}

/** Calls `expired` once when that generous time is over. @returns what stops it */
export function afterPatience(milliseconds: number, expired: () => void): () => void {
  const started = performance.now();
  let timer: NodeJS.Timeout;
  const look = (inMs: number) => {
    timer = setTimeout(() => {
      const leftMs = started + generous(milliseconds) - performance.now();
      if (leftMs > 0) look(leftMs);
      else expired();
    }, inMs);
  };
  look(milliseconds);
  return () => clearTimeout(timer);
}

function processesPerProcessor(): number {
  const [lastMinute = 0] = loadavg();
  return lastMinute / processors;
}

const processors = Math.min(availableParallelism(), quotaOf(readText('/proc/self/cgroup')));

/** How many processors the control group of this process, or the one above all that it sees, gets; a part of one, too. */
function quotaOf(groups: string): number {
  const own = /^0::(.*)$/m.exec(groups)?.[1] ?? '/';
  const ownFirst = /^\d+:(?:\w+,)*cpu(?:,\w+)*:(.*)$/m.exec(groups)?.[1] ?? '/';
  const limits = [own, '/'].map((path) => readText(`/sys/fs/cgroup${path}/cpu.max`).split(' '));
  const limitsFirst = [ownFirst, '/'].map((path) =>
    ['quota', 'period'].map((name) => readText(`/sys/fs/cgroup/cpu${path}/cpu.cfs_${name}_us`)),
  );
  const shares = [...limits, ...limitsFirst].map(([quota, period]) => Number(quota) / Number(period));
  return Math.min(...shares.filter((share) => share > 0), Number.POSITIVE_INFINITY);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
