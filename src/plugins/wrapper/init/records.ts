import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';

/** Record kinds between svc-init and the wrapper, as in init/protocol.h. */
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
  agent: 10,
  token: 11,
  running: 32,
  started: 33,
} as const;

const flag = {
  signalGroup: 1,
  logText: 2,
  logLeast: 4,
  keepShared: 16,
  secretMemfd: 32,
  requireLock: 64,
  resident: 128,
} as const;

/** A worker's descriptor of its socket to svc-init. */
export const workerSocket = 3;

/** What svc-init starts a worker for. */
export interface WorkerRole {
  /** Whether it makes the first pass and stays, instead of making one pass and ending. */
  readonly resident: boolean;
  /** Whether VAULT_TOKEN had been set. */
  readonly tokenGiven: boolean;
}

const workerFlag = '--svc-worker';

/** The first argument that svc-init gives a worker. */
export function workerArgument({ resident, tokenGiven }: WorkerRole): string {
  return `${workerFlag}=${[resident && 'resident', tokenGiven && 'token'].filter(Boolean).join('+')}`;
}

/** Undefined if this process is not a worker. */
export function workerRole(argument = ''): WorkerRole | undefined {
  if (!argument.startsWith(`${workerFlag}=`)) return undefined;
  const traits = argument.slice(workerFlag.length + 1).split('+');
  return { resident: traits.includes('resident'), tokenGiven: traits.includes('token') };
}

/** Otherwise any process of the user could make Node open a debugger port, by a SIGUSR1 before the first statement. */
export const withoutDebugger = '--disable-sigusr1';

/** The flags of SETTINGS. */
export function settingFlags(
  { signalGroup, logLevel, rotation, requireMlock }: InitSettings,
  { logText, secretMemfd, resident }: SettingTraits,
): number {
  return [
    signalGroup && flag.signalGroup,
    logText && flag.logText,
    flag.logLeast * ['debug', 'info', 'warn', 'error'].indexOf(logLevel),
    rotation === 'sighup' && !resident && flag.keepShared,
    secretMemfd && flag.secretMemfd,
    requireMlock && flag.requireLock,
    resident && flag.resident,
  ].reduce((sum: number, one) => sum | (one || 0), 0);
}

export interface SettingTraits {
  readonly logText: boolean;
  /** Whether secrets and state lie in memfd_secret memory. */
  readonly secretMemfd: boolean;
  readonly resident: boolean;
}

export type InitSettings = Pick<
  ResolvedWrapperSettings,
  'signalGroup' | 'logLevel' | 'rotation' | 'requireMlock'
>;

/**
 * Path of svc-init: beside the wrapper in its folder, below dist/ in the package.
 * @throws SvcError INIT_MISSING (exit 71)
 */
export function findInit(): string {
  const here = ownFile();
  const candidates = [join(dirname(here), 'svc-init'), join(dirname(here), 'init', process.arch, 'svc-init')];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new SvcError('INIT_MISSING', `svc-init is missing: ${candidates.join(', ')}`, {
    nextStep: 'Build it (`npm run build` with a C compiler), or install the published package, which has it.',
    exitStatus: exitStatus.system,
  });
}

/** The file that holds this code; in a bundle, the bundle's. */
export const ownFile = (): string =>
  import.meta.url.startsWith('file:') ? fileURLToPath(import.meta.url) : import.meta.url;

/** Milliseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
