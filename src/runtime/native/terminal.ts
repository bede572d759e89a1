import { constants } from 'node:os';
import { callInt, tryInt } from './libc.ts';
import { withSignalBlocked } from './signals.ts';

/** The process group in the terminal's foreground; undefined where the descriptor is no controlling terminal of ours. */
export function foregroundGroup(descriptor: number): number | undefined {
  const group = callInt('tcgetpgrp', descriptor);
  return group === -1 ? undefined : group;
}

/**
 * Gives the terminal to a process group of our session, also from the background.
 * @throws NativeError, such as EPERM for a group that is none or ENOTTY for a terminal that is gone
 */
export function setForegroundGroup(descriptor: number, group: number): void {
  withSignalBlocked(constants.signals.SIGTTOU, () => tryInt('tcsetpgrp', descriptor, group));
}

/** The process group of a process, 0 for our own. @throws NativeError ESRCH */
export function processGroup(pid = 0): number {
  return tryInt('getpgid', pid);
}
