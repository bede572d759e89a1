import { readFileSync, statSync } from 'node:fs';
import { svcVersion } from '../../../runtime/component/package-folder.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { hasCapability, isDumpable } from '../../../runtime/native/own-process.ts';
import { type MappedRange, outsideCode, parseRange } from '../../../runtime/native/process-lock.ts';
import { softLimit, statusBytes, statusField } from '../../../runtime/native/process-status.ts';
import type { Observation } from '../observation.ts';
import type { PreparedApplication } from '../prepare-application.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import {
  type AgentCallOptions,
  type AgentReport,
  type ApplicationProtection,
  callAgent,
  encodeReport,
  type ProtectionStatus,
  type SecretMemoryProtection,
} from './agent-client.ts';

export interface ReportOptions {
  readonly settings: ResolvedWrapperSettings;
  readonly observation: Observation;
  readonly log: Logger;
  /** A restarted agent knows which processes it protects, but not what they reported. */
  readonly repeat: Repeat;
  /** Opened by svc-init, which the agent is to see as the caller. */
  readonly connection: AgentCallOptions['connection'];
}

const timeoutMs = 10_000;

/**
 * Reports the measured protection of the running application to log, metrics and node agent. Call while the wrapper
 * still holds the region.
 */
export function reportProtection(
  { region }: PreparedApplication,
  pid: number,
  { settings, observation, log, repeat, connection }: ReportOptions,
): void {
  const report = measureProtection([region], pid, settings);
  const { wrapper, secretMemory } = report;
  observation.lockedBytes.set(wrapper.lockedBytes);
  observation.unlockedBytes.set(wrapper.unlockedBytes);
  log.info('protection', {
    lock: wrapper.lockMode,
    locked_bytes: wrapper.lockedBytes,
    unlocked_bytes: wrapper.unlockedBytes,
    dumpable: wrapper.dumpable,
    core_limit: String(wrapper.coreLimitBytes),
    secret_memory: secretMemory?.kind,
  });
  const { agentAddr: socketPath } = settings;
  if (socketPath === undefined) return;
  repeat(() => {
    reportToAgent(report, { socketPath, connection, timeoutMs }).catch((error: unknown) =>
      log.warn('agent.report.failed', { ...describeError(error) }),
    );
  });
}

/** @param pid of the application; undefined if none runs */
export function measureProtection(
  regions: readonly SecretRange[],
  pid: number | undefined,
  { podUid = '', delivery }: ResolvedWrapperSettings,
): AgentReport {
  const { wrapper, secretMemory } = measureOwnProtection(regions);
  const application = pid === undefined ? undefined : measureApplicationProtection(pid);
  return { podUid, version: svcVersion(), wrapper, application, secretMemory, delivery };
}

/**
 * Reports the protection in force to the agent, once the application runs and after each relaunch. The protection
 * does not depend on it: the caller logs a failure.
 * @throws SvcError as `registerWithAgent`; the signal's reason
 */
export async function reportToAgent(report: AgentReport, options: AgentCallOptions): Promise<void> {
  await callAgent('Report', encodeReport(report), options);
}

/**
 * Measures the application's protection from files without secrets (never its environment).
 * Undefined if the application has ended, or if /proc hides other users' processes.
 */
export function measureApplicationProtection(pid: number): ApplicationProtection | undefined {
  try {
    return applicationProtection(pid);
  } catch {
    return undefined;
  }
}

function applicationProtection(pid: number): ApplicationProtection {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
  return {
    pid,
    lockedBytes: statusBytes(status, 'VmLck'),
    swappedBytes: statusBytes(status, 'VmSwap'),
    coreLimitBytes: softLimit(limits, 'Max core file size'),
    dumpable: dumpableByOwner(statSync(`/proc/${pid}/status`).uid, effectiveUser(status)),
  };
}

/** The /proc files of a process that is not dumpable belong to root. */
export function dumpableByOwner(owner: number, effective: number): boolean | undefined {
  return effective === 0 ? undefined : owner === effective;
}

function effectiveUser(status: string): number {
  return Number(statusField(status, 'Uid')?.split('\t')[1] ?? 0);
}

/** Replaces the repeated action; without an argument, runs the current one again. */
export type Repeat = (action?: () => void) => void;

/** Runs its action at once and then every `everyMs`. The timer does not keep the process alive. */
export function createRepeater(everyMs: number): Repeat {
  let timer: NodeJS.Timeout | undefined;
  let current = () => {};
  return (action = current) => {
    current = action;
    clearInterval(timer);
    timer = setInterval(action, everyMs).unref();
    action();
  };
}

export interface OwnProtection {
  readonly wrapper: ProtectionStatus;
  /** Undefined if no region was given. */
  readonly secretMemory: SecretMemoryProtection | undefined;
}

/** Where secrets lie in this process. */
export interface SecretRange {
  readonly address: bigint;
  readonly length: number;
}

/**
 * Measures the current protection of this process. Takes 3 ms. Works for any user, also while the process is not
 * dumpable, because a process may always read its own files in /proc.
 * @throws Error if /proc is not mounted
 */
export function measureOwnProtection(secrets: readonly SecretRange[] = []): OwnProtection {
  const mapped = parseMappedMemory(readFileSync('/proc/self/smaps', 'latin1'));
  return { wrapper: processProtection(mapped), secretMemory: secretMemory(mapped, secrets) };
}

function processProtection(mapped: readonly MappedMemory[]): ProtectionStatus {
  const status = readFileSync('/proc/self/status', 'latin1');
  const limits = readFileSync('/proc/self/limits', 'latin1');
  return {
    ...lockProtection(mapped),
    swappedBytes: statusBytes(status, 'VmSwap'),
    lockLimitBytes: softLimit(limits, 'Max locked memory'),
    coreLimitBytes: softLimit(limits, 'Max core file size'),
    dumpable: isDumpable(),
    ipcLock: hasCapability('ipc_lock'),
  };
}

type LockProtection = Pick<ProtectionStatus, 'lockMode' | 'lockedBytes' | 'unlockedBytes'>;

/** Generated code and its neighbours do not count for the mode: they are never locked (V8 would end the process). */
export function lockProtection(mapped: readonly MappedMemory[]): LockProtection {
  const own = mapped.filter(isOwn);
  const locked = own.filter((range) => range.locked);
  const lockedBytes = held(locked);
  const complete = outsideCode(mapped)
    .filter(isOwn)
    .every((range) => range.locked);
  return {
    lockMode: lockedBytes === 0 ? 'none' : complete ? 'all' : 'partial',
    lockedBytes,
    unlockedBytes: held(own) - lockedBytes,
  };
}

function isOwn({ permissions, heldBytes }: MappedMemory): boolean {
  return /^.w.p$/.test(permissions) && heldBytes > 0;
}

function held(ranges: readonly MappedMemory[]): number {
  return ranges.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
}

function secretMemory(
  mapped: readonly MappedMemory[],
  secrets: readonly SecretRange[],
): SecretMemoryProtection | undefined {
  if (secrets.length === 0) return undefined;
  const ranges = secrets.map((secret) => mapped.find((range) => holds(range, secret)));
  return {
    kind: ranges.every((range) => range?.name.startsWith('/secretmem')) ? 'memfd_secret' : 'anonymous',
    bytes: secrets.reduce((sum, { length }) => sum + length, 0),
    locked: ranges.every((range) => range?.locked === true),
    undumped: ranges.every((range) => range?.undumped === true),
  };
}

function holds({ start, end }: MappedMemory, { address, length }: SecretRange): boolean {
  return start <= Number(address) && Number(address) + length <= end;
}

/** One mapping of a process. */
interface MappedMemory extends MappedRange {
  /** Private bytes, present or swapped out. */
  readonly heldBytes: number;
  readonly locked: boolean;
  /** Left out of core dumps. */
  readonly undumped: boolean;
}

/**
 * The first line of a mapping begins with its address, the detail lines with a capital letter. A text has thousands.
 * @param smaps the text of /proc/PID/smaps
 */
export function parseMappedMemory(smaps: string): MappedMemory[] {
  const mapped: MappedMemory[] = [];
  let range: MappedRange | undefined;
  let heldBytes = 0;
  for (const line of smaps.split('\n')) {
    if (!isDetail(line)) range = parseRange(line) ?? range;
    else if (line.startsWith('Anonymous:') || line.startsWith('Swap:')) heldBytes += kilobytes(line) * 1024;
    else if (line.startsWith('VmFlags:')) {
      const flags = line.split(' ');
      const traits = { heldBytes, locked: flags.includes('lo'), undumped: flags.includes('dd') };
      if (range) mapped.push({ ...range, ...traits });
      heldBytes = 0;
    }
  }
  return mapped;
}

function isDetail(line: string): boolean {
  return line >= 'A' && line < '[';
}

function kilobytes(line: string): number {
  return Number.parseInt(line.slice(line.indexOf(':') + 1), 10);
}
