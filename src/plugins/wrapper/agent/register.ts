import { svcVersion } from '../../../runtime/component/package-folder.ts';
import { messageOf, SvcError } from '../../../runtime/errors.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { isCovered } from '../../../runtime/native/own-process.ts';
import type { Observation } from '../observation.ts';
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

/** How long the start waits for an agent that is not required. */
const dispensableWaitMs = 3_000;

/** Timeout of each later attempt, while the application runs. */
const laterWaitMs = 500;

const unreachable = new Set(['AGENT_UNAVAILABLE', 'AGENT_INCOMPATIBLE']);

/**
 * Before any secret is fetched: waits for the node agent's acknowledgement if an agent address is set; otherwise, if
 * enforcement is required, until the agent's BPF programs cover this process.
 * @throws SvcError as `registerWithAgent`, except for an unreachable agent if neither the agent nor its enforcement
 * is required
 * @param connection opened by the process to cover; default: this process's own
 * @returns false if the start continues without the agent; `registerLater` then takes over
 */
export async function register(
  settings: ResolvedWrapperSettings,
  observation: Observation,
  log: Logger,
  signal: AbortSignal,
  connection?: AgentCallOptions['connection'],
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
    await ask(settings, { socketPath: agentAddr, connection, timeoutMs, signal, onRetry }, observation, log);
    return true;
  } catch (error) {
    if (needed || !(error instanceof SvcError && unreachable.has(error.code))) throw error;
    log.warn('agent.missing', {
      ...describeError(error),
      remark: 'continuing, because SVC_REQUIRE_AGENT is false',
    });
    observation.health.degraded('agent', error.message);
    return false;
  }
}

/**
 * The agent covers a pod that may not mount its socket as a whole, soon after the pod has started. The BPF programs
 * themselves answer whether they cover this process.
 * @throws SvcError AGENT_NOT_ENFORCING after `timeoutMs`; the signal's reason
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
 * Tries once per call to register with an agent that was unreachable at the start, which then covers the running
 * application as well. A refusal is logged and shown by health; the application keeps running.
 * @param connection opened by the process to cover; default: this process's own
 * @returns whether the registration succeeded
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
  const registration = { podUid, version: svcVersion(), protection, requireEnforcement };
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
 * Puts this process and its later descendants under the node agent's protection. Call before any secret is fetched;
 * waits for an agent that is away or not ready.
 * @throws SvcError AGENT_UNAVAILABLE or AGENT_INCOMPATIBLE (exit 69; the caller may log it and continue if neither
 * the agent nor its enforcement is required), AGENT_REFUSED (77), AGENT_POD_UNKNOWN (78), AGENT_NOT_ENFORCING (71, if
 * enforcement is required); the signal's reason
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
