import { softLimit, statusField } from '../../../../core/linux/proc-text.ts';
import { failed, notEvaluated, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

const ipcLock = 14n;

export const memoryLock = hostCheck(
  {
    id: 'SVC-HOST-003',
    title: 'Memory can be locked without a limit',
    level: 'warning',
    cause:
      'The wrapper locks all of its memory and does not start where it cannot (SVC_REQUIRE_MLOCK). In pods the operator adds the capability IPC_LOCK; a service manager has its own limit.',
    fix: 'Set LimitMEMLOCK=infinity in the service unit, or add the capability IPC_LOCK to the container.',
  },
  ({ read }) => {
    const limits = read('/proc/self/limits');
    const status = read('/proc/self/status');
    if (limits === undefined || status === undefined) return notEvaluated('/proc is not mounted.');
    const limit = softLimit(limits, 'Max locked memory');
    if (limit === Number.POSITIVE_INFINITY) return passed('no limit');
    if (hasIpcLock(status)) return passed('by the capability IPC_LOCK');
    return failed({ subject, message: `${limit} bytes can be locked, and IPC_LOCK is not effective.` });
  },
);

function hasIpcLock(status: string): boolean {
  return ((BigInt(`0x${statusField(status, 'CapEff') ?? '0'}`) >> ipcLock) & 1n) === 1n;
}
