import { readFileSync, statSync } from 'node:fs';
import { softLimit, statusBytes, statusField } from '../../../core/proc-text.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { wrapperVersion } from '../loggers.ts';
import type { Observation } from '../observation.ts';
import type { Prepared } from '../prepare-application.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import {
  type AgentCallOptions,
  type ApplicationProtection,
  callAgent,
  encodeReport,
  type ProtectionReport,
} from './agent-client.ts';
import { measureOwnProtection } from './measure.ts';

export interface ReportOptions {
  readonly settings: ResolvedWrapperSettings;
  readonly observation: Observation;
  readonly log: Logger;
  /** An agent that was restarted knows whom it protects, but not what they reported. */
  readonly repeat: Repeat;
}

const timeoutMs = 10_000;

/**
 * Tells log, metrics and node agent what protection is in force now that the application runs, as measured. To be
 * called while the wrapper still holds the region.
 */
export function reportProtection(
  { region }: Prepared,
  pid: number,
  { settings, observation, log, repeat }: ReportOptions,
): void {
  const { wrapper, secretMemory } = measureOwnProtection([region]);
  const application = measureApplicationProtection(pid);
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
  const { agentAddr: socketPath, podUid = '', delivery } = settings;
  if (socketPath === undefined) return;
  const report = { podUid, version: wrapperVersion(), wrapper, application, secretMemory, delivery };
  repeat(() => {
    reportToAgent(report, { socketPath, timeoutMs }).catch((error: unknown) =>
      log.warn('agent.report.failed', { ...describeError(error) }),
    );
  });
}

/**
 * Tells the agent what protection is in force, once the application runs and after each relaunch. A failure changes
 * nothing about the protection: the caller logs it.
 * @throws SvcError as `registerWithAgent`; the signal's reason
 */
export async function reportToAgent(report: ProtectionReport, options: AgentCallOptions): Promise<void> {
  await callAgent('Report', encodeReport(report), options);
}

/**
 * Measures what protects the application, from files that name no secret (never its environment).
 * Undefined when it has ended, or where /proc hides other users' processes.
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

/** The kernel gives the files of a process that is not dumpable to root. */
export function dumpableByOwner(owner: number, effective: number): boolean | undefined {
  return effective === 0 ? undefined : owner === effective;
}

function effectiveUser(status: string): number {
  return Number(statusField(status, 'Uid')?.split('\t')[1] ?? 0);
}

/** Takes an action in the place of the one before; without one, does that again. */
export type Repeat = (action?: () => void) => void;

/** What it takes is done at once and then every so many milliseconds; no process stays for it. */
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
