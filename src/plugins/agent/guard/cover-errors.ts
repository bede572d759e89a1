import { exitStatus, SvcError } from '../../../core/errors.ts';

export function gone(pid: number): SvcError {
  return new SvcError('PROCESS_GONE', `Process ${pid} has ended`, { nextStep: 'Start it again.' });
}

export function tableFull(what: 'processes' | 'cgroups'): SvcError {
  return new SvcError('GUARD_FULL', `The table of covered ${what} is full`, {
    nextStep: 'Spread the protected workloads over more nodes.',
    exitStatus: exitStatus.system,
  });
}

/** The other workloads of the node have room still. */
export function shareFull(pid: number): SvcError {
  return new SvcError(
    'GUARD_SHARE_FULL',
    `The cgroup of process ${pid} has as many covered processes as one may have`,
    {
      nextStep: 'Have the workload run fewer processes at a time, or spread them over more containers.',
      exitStatus: exitStatus.system,
    },
  );
}

/** What was begun may cover less than everything. */
export function unsettled(pid: number, why: string): SvcError {
  return new SvcError('PROTECTION_UNSETTLED', `Process ${pid} may not be covered as a whole: ${why}`, {
    nextStep: 'Ask for its protection again.',
    exitStatus: exitStatus.unavailable,
  });
}
