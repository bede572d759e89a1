import { messageOf, SvcError } from '../../../core/errors.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { isCovered } from '../../../runtime/native/own-process.ts';
import { type Observation, wrapperVersion } from '../observation.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import {
  type Acknowledgement,
  type AgentCallOptions,
  agentError,
  callAgent,
  decodeAcknowledgement,
  encodeRegistration,
  notCovered,
  notEnforcing,
  type Registration,
} from './agent-client.ts';
import { measureOwnProtection } from './report.ts';

/** How long an application waits for an agent that it can do without. */
const dispensableWaitMs = 3_000;

/** How long a running one does at each beat. */
const laterWaitMs = 500;

const unreachable = new Set(['AGENT_UNAVAILABLE', 'AGENT_INCOMPATIBLE']);

/**
 * Waits for the node agent's acknowledgement, where there is to be an agent, before any secret is fetched; without an
 * address of one, for its programs where their enforcement is required.
 * @throws SvcError as `registerWithAgent`, but for an unreachable agent under SVC_REQUIRE_AGENT=false,
 * unless its enforcement is required
 * @returns false where it went on without the agent, which `registerLater` asks for from then on
 */
export async function register(
  settings: ResolvedWrapperSettings,
  observation: Observation,
  log: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  const { agentAddr, requireAgent, requireEnforcement, startupTimeout } = settings;
  if (agentAddr === undefined) {
    if (requireEnforcement) await untilCovered(startupTimeout, log, signal);
    return true;
  }
  const needed = requireAgent || requireEnforcement;
  const onRetry = (error: unknown, delayMs: number) =>
    log.warn('agent.waiting', { ...describeError(error), retry_ms: Math.round(delayMs) });
  try {
    const timeoutMs = needed ? startupTimeout : Math.min(startupTimeout, dispensableWaitMs);
    await ask(settings, { socketPath: agentAddr, timeoutMs, signal, onRetry }, observation, log);
    return true;
  } catch (error) {
    if (needed || !(error instanceof SvcError && unreachable.has(error.code))) throw error;
    log.warn('agent.missing', {
      ...describeError(error),
      remark: 'going on, because SVC_REQUIRE_AGENT is false',
    });
    observation.health.degraded('agent', error.message);
    return false;
  }
}

/**
 * A pod that may not mount the agent's socket is covered as a whole, soon after it has started. Whether it is, the
 * programs themselves answer.
 * @throws SvcError AGENT_NOT_ENFORCING after that time; the signal's reason
 */
async function untilCovered(timeoutMs: number, log: Logger, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const ask = async () => {
    if (!isCovered()) throw notCovered(seconds());
  };
  await retry(ask, {
    ...{ initialMs: 50, maxMs: 1_000, maxElapsedMs: timeoutMs, signal },
    isRetryable: (error) => error instanceof SvcError && error.code === 'AGENT_NOT_ENFORCING',
    onRetry: (error, delayMs) =>
      log.warn('agent.waiting', { ...describeError(error), retry_ms: Math.round(delayMs) }),
  });
  log.info('agent.covered', { waited_ms: Math.round(performance.now() - began) });
}

/**
 * Asks an agent that was not there at the start, once a call: it covers the application that runs by now as well.
 * A refusal is logged and shown by health; it ends nothing.
 * @param connection of the process that is to be covered; default: this one's
 * @returns whether it has registered
 */
export async function registerLater(
  settings: ResolvedWrapperSettings,
  observation: Observation,
  log: Logger,
  signal: AbortSignal,
  connection?: AgentCallOptions['connection'],
): Promise<boolean> {
  const { agentAddr: socketPath } = settings;
  if (socketPath === undefined) return true;
  try {
    await ask(settings, { socketPath, connection, timeoutMs: laterWaitMs, signal }, observation, log);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const { code, message } = error instanceof SvcError ? error : { code: '', message: messageOf(error) };
    if (!unreachable.has(code)) log.warn('agent.missing', { ...describeError(error) });
    observation.health.degraded('agent', message);
    return false;
  }
}

async function ask(
  { podUid = '', requireEnforcement }: ResolvedWrapperSettings,
  options: AgentCallOptions,
  observation: Observation,
  log: Logger,
): Promise<void> {
  const protection = measureOwnProtection().wrapper;
  const registration = { podUid, version: wrapperVersion(), protection, requireEnforcement };
  const { tier, enforcing, reason, agentVersion } = await registerWithAgent(registration, options);
  observation.agentTier.set(tier);
  observation.agentEnforcing.set(enforcing ? 1 : 0);
  log.info('agent.registered', {
    tier,
    enforcing,
    reason: reason || undefined,
    agent_version: agentVersion,
  });
  if (enforcing) observation.health.recovered('agent');
  else observation.health.degraded('agent', `the node agent does not enforce: ${reason}`);
}

/**
 * Puts this process and its later descendants under the node agent's protection. To be called before any secret is
 * fetched; an agent that is away or not ready is waited for.
 * @throws SvcError AGENT_UNAVAILABLE or AGENT_INCOMPATIBLE (exit 69; where neither the agent nor its enforcement is
 * required, the caller may log it and go on), AGENT_REFUSED (77), AGENT_POD_UNKNOWN (78), AGENT_NOT_ENFORCING (71,
 * where enforcement is required); the signal's reason
 */
export async function registerWithAgent(
  registration: Registration,
  options: AgentCallOptions,
): Promise<Acknowledgement> {
  const answer = await callAgent('Register', encodeRegistration(registration), options);
  const acknowledgement = decoded(answer, options.socketPath);
  if (registration.requireEnforcement && !acknowledgement.enforcing) throw notEnforcing(acknowledgement);
  return acknowledgement;
}

function decoded(answer: Uint8Array, socketPath: string): Acknowledgement {
  try {
    return decodeAcknowledgement(answer);
  } catch (error) {
    throw agentError(error, socketPath);
  }
}
