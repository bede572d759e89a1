import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { readProcess } from '../../../runtime/native/processes.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { terminalMode } from '../supervise/job.ts';

/** Kinds of the records between svc-init and the wrapper, as init/protocol.h has them. */
export const recordKind = {
  settings: 1,
  listener: 2,
  pages: 3,
  state: 4,
  shared: 5,
  start: 6,
  notify: 7,
  next: 8,
  hello: 9,
  running: 32,
  started: 33,
} as const;

const flag = {
  signalGroup: 1,
  terminalOwner: 2,
  terminalShared: 4,
  hasTerminal: 8,
  logText: 16,
  logDebug: 32,
  logQuiet: 64,
  keepShared: 128,
  secretMemfd: 256,
  requireLock: 512,
} as const;

/** Where a worker finds its socket. */
export const workerSocket = 3;

/** The first argument of a worker, which svc-init starts; `=token` behind it says that VAULT_TOKEN had been set. */
export const workerFlag = '--svc-worker';

/** The flags of SETTINGS for this process, whose place svc-init takes. */
export function settingFlags(
  settings: ResolvedWrapperSettings,
  { logText, secretMemfd }: { readonly logText: boolean; readonly secretMemfd: boolean },
): number {
  const others = union([
    logText && flag.logText,
    settings.logLevel === 'debug' && flag.logDebug,
    (settings.logLevel === 'warn' || settings.logLevel === 'error') && flag.logQuiet,
    settings.rotation === 'sighup' && flag.keepShared,
    secretMemfd && flag.secretMemfd,
    settings.requireMlock && flag.requireLock,
  ]);
  return supervisionFlags(settings.signalGroup) | others;
}

/** The part of them that says how the application stands to signals and to a terminal. */
export function supervisionFlags(signalGroup: boolean): number {
  const mode = terminalMode(signalGroup);
  return union([
    signalGroup && flag.signalGroup,
    mode === 'owner' && flag.terminalOwner,
    mode === 'shared' && flag.terminalShared,
    (readProcess('self')?.terminal ?? 0) !== 0 && flag.hasTerminal,
  ]);
}

const union = (flags: readonly (number | false)[]): number =>
  flags.reduce((sum: number, one) => sum | (one || 0), 0);

/**
 * The program svc-init: beside the wrapper in its folder, below dist/ in the package.
 * @throws SvcError INIT_MISSING (exit 71)
 */
export function findInit(): string {
  const here = import.meta.url.startsWith('file:') ? fileURLToPath(import.meta.url) : import.meta.url;
  const candidates = [join(dirname(here), 'svc-init'), join(dirname(here), 'init', process.arch, 'svc-init')];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new SvcError('INIT_MISSING', `svc-init is not there: ${candidates.join(', ')}`, {
    nextStep: 'Build it (`npm run build` with a C compiler), or set SVC_RESIDENT=true.',
    exitStatus: exitStatus.system,
  });
}

/** Milliseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
