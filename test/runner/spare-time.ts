import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const SAMPLE_MS = 500;
/** Share of all processors: of two, half of one. */
const SPARE = 0.25;

/** Resolves with true when the processors had nothing to do for a good part of half a second, with false once `ended` says so. */
export async function untilSpareTime(ended: () => boolean): Promise<boolean> {
  for (let before = times(); !ended(); ) {
    await sleep(SAMPLE_MS);
    const now = times();
    if ((now.idle - before.idle) / (now.all - before.all) > SPARE) return !ended();
    before = now;
  }
  return false;
}

function times(): { idle: number; all: number } {
  let [idle, all] = [0, 0];
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}
