import { SvcError } from '../../core/errors.ts';
import { describeError } from '../../runtime/logging/describe-error.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { registerWithAgent } from './agent/register.ts';
import type { Observation } from './observe/observation.ts';
import { measureOwnProtection } from './protection/measure.ts';
import type { ResolvedWrapperSettings } from './settings.ts';
import { wrapperVersion } from './version.ts';

/** How long an application waits for an agent that it can do without. */
const dispensableWaitMs = 3_000;

const unreachable = new Set(['AGENT_UNAVAILABLE', 'AGENT_INCOMPATIBLE']);

/**
 * Waits for the node agent's acknowledgement, where there is to be an agent, before any secret is fetched.
 * @throws SvcError as `registerWithAgent`, but for an unreachable agent under SVC_REQUIRE_AGENT=false,
 * unless its enforcement is required
 */
export async function register(
  settings: ResolvedWrapperSettings,
  observation: Observation,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { agentAddr, podUid = '', requireAgent, requireEnforcement, startupTimeout } = settings;
  if (agentAddr === undefined) return;
  const needed = requireAgent || requireEnforcement;
  const registration = {
    podUid,
    version: wrapperVersion(),
    protection: measureOwnProtection().wrapper,
    requireEnforcement,
  };
  const onRetry = (error: unknown, delayMs: number) =>
    log.warn('agent.waiting', { ...describeError(error), retry_ms: Math.round(delayMs) });
  try {
    const timeoutMs = needed ? startupTimeout : Math.min(startupTimeout, dispensableWaitMs);
    const options = { socketPath: agentAddr, timeoutMs, signal, onRetry };
    const { tier, enforcing, reason, agentVersion } = await registerWithAgent(registration, options);
    observation.agentTier.set(tier);
    observation.agentEnforcing.set(enforcing ? 1 : 0);
    log.info('agent.registered', {
      tier,
      enforcing,
      reason: reason || undefined,
      agent_version: agentVersion,
    });
    if (!enforcing) observation.health.degraded('agent', `the node agent does not enforce: ${reason}`);
  } catch (error) {
    if (needed || !(error instanceof SvcError && unreachable.has(error.code))) throw error;
    log.warn('agent.missing', {
      ...describeError(error),
      remark: 'going on, because SVC_REQUIRE_AGENT is false',
    });
    observation.health.degraded('agent', error.message);
  }
}
