import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { SvcError } from '../../core/errors.ts';
import { leftAlone } from '../../core/protection/layouts.ts';
import { tierNames } from '../../core/protection/tier.ts';
import type { ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { svcVersion } from '../../runtime/component/version.ts';
import { untilAborted } from '../../runtime/lifecycle/until-aborted.ts';
import { keepHeapSmall } from '../../runtime/memory/small-heap.ts';
import type { GuardStatus } from './guard/contract.ts';
import { createGuard, type StartingGuard } from './guard/create-guard.ts';
import { describePassedOver } from './guard/status.ts';
import { createGuardMetrics } from './guard-metrics.ts';
import { createClock } from './hits/clock.ts';
import { createHitSink } from './hits/hit-sink.ts';
import { createNodeState } from './node-state.ts';
import type { OperatorChannel } from './operator/contract.ts';
import { operatorOf } from './operator/operator-of.ts';
import { startOperatorChannel } from './operator/start-operator-channel.ts';
import { startPodWatch } from './pods/start-pod-watch.ts';
import { showStatus } from './readiness.ts';
import {
  type Registration,
  type RegistrationOptions,
  startRegistration,
} from './registration/start-registration.ts';
import type { AgentConfig } from './settings.ts';

/**
 * Begins to guard this node. The socket comes first: another agent that answers there ends this one before it has
 * touched any program.
 */
export async function startAgent(
  config: AgentConfig,
  deps: ComponentDeps,
  signal: AbortSignal,
): Promise<Running> {
  const { log, metrics, health } = deps;
  keepHeapSmall();
  const version = svcVersion();
  const node = config.nodeName ?? hostname();
  const guard = guardOf(config, deps);
  let channel: OperatorChannel | undefined;
  const onChange = () => channel?.changed();
  const registration = await registrationOr(
    {
      ...{ socketPath: config.socket, guard, log, metrics, version, onChange },
    },
    health,
  );
  const pods = startPodWatch({
    ...{ node, cgroupRoot: config.cgroupRoot, guard, log, metrics, health, signal, onChange },
  });
  channel = startOperatorChannel({
    ...operatorOf(config),
    ...{ node, version, log, metrics, health, signal, instance: randomUUID() },
    state: createNodeState(config, guard, registration, pods),
  });
  guard.onStatus(onChange);
  guard.onHit(createHitSink({ log, metrics, resolver: pods.resolver, channel, clock: createClock() }));
  await guard.start();
  const close = async () => {
    await Promise.all([registration.close(), channel?.close(), pods.close()]);
    await guard.close();
  };
  return {
    facts: { node, socket: registration.address, ...factsOf(guard.status) },
    closed: untilAborted(signal).then(close),
  };
}

const refusals: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'EROFS'];

/** An agent that may not make its socket says so in `/readyz`, and is there to be asked; nobody registers with it. */
async function registrationOr(
  options: RegistrationOptions,
  health: ComponentDeps['health'],
): Promise<Registration> {
  try {
    return await startRegistration(options);
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (!(error instanceof SvcError) || !refusals.includes(cause?.code)) throw error;
    options.log.error('registration.socket_failed', { error: error.message });
    health.notReady('socket', error.message);
    return { address: '', reports: () => [], registered: () => [], close: async () => {} };
  }
}

function guardOf(config: AgentConfig, { log, metrics, health }: ComponentDeps): StartingGuard {
  const measured = createGuardMetrics(metrics);
  const guard = createGuard({
    folder: config.bpfFolder,
    enforce: config.enforce,
    kill: config.reactiveKill,
    left: (config.guardKernelMemory ? 0 : leftAlone.kernelMemory) | (config.guardPerf ? 0 : leftAlone.perf),
    tiers: config.tiers,
    intervalMs: config.canaryInterval,
    log,
    onTallies(tallies) {
      measured.tallies(tallies);
      measured.processes(guard.processCount());
    },
    onCanary: measured.canary,
  });
  const show = (status: GuardStatus) => {
    measured.status(status);
    showStatus(health, status, config.requireEnforcement);
  };
  guard.onStatus(show);
  show(guard.status);
  return guard;
}

/** For the start-up line: which tier the host gave, and why not a higher one. */
function factsOf({ tier = 4, enforcing, reason, passedOver }: GuardStatus): Record<string, string> {
  const why = describePassedOver(passedOver);
  return {
    tier: String(tier),
    mechanism: tierNames[tier],
    enforcing: String(enforcing),
    ...(reason === '' ? {} : { reason }),
    ...(why === '' ? {} : { not_higher: why }),
  };
}
