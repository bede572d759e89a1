import { describeError } from '../../runtime/logging/describe-error.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Repeat } from './agent/repeater.ts';
import { reportToAgent } from './agent/report.ts';
import type { Prepared } from './application/prepared.ts';
import type { Observation } from './observe/observation.ts';
import { measureOwnProtection } from './protection/measure.ts';
import { measureApplicationProtection } from './protection/measure-application.ts';
import type { ResolvedWrapperSettings } from './settings.ts';
import { wrapperVersion } from './version.ts';

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
