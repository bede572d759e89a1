import { readdirSync, readFileSync } from 'node:fs';
import { statFields } from '../../../runtime/native/process-table.ts';

const startField = 19;
const tick = 10_000_000n;

/** When a process was started, in nanoseconds since boot to 10 ms; undefined for one that is not there. */
export function startOf(pid: number): bigint | undefined {
  try {
    const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return BigInt(fields[startField] ?? 0) * tick;
  } catch {
    return undefined;
  }
}

/** Whether a debugger is attached to any thread of a process. @throws Error where that cannot be told */
export function isTraced(pid: number): boolean {
  return threadsOf(pid).some((thread) =>
    /^TracerPid:\t[1-9]/m.test(readOfTask(`/proc/${pid}/task/${thread}/status`)),
  );
}

/** Ids of the threads of a process; none of one that is not there. @throws Error where they cannot be read */
export const threadsOf = (pid: number): string[] => unlessGone(() => readdirSync(`/proc/${pid}/task`), []);

/**
 * What has ended meanwhile reads as nothing. As UTF-8, for which Node has a quicker way than for other encodings.
 * @throws Error where it is there and cannot be read
 */
export const readOfTask = (path: string): string => unlessGone(() => readFileSync(path, 'utf8'), '');

function unlessGone<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return nothing;
    throw error;
  }
}
