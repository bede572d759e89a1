import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Component, ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import { SvcError } from '../../runtime/errors.ts';
import type { Health, Metrics } from '../../runtime/health/health.ts';
import { untilAborted } from '../../runtime/lifecycle/wait.ts';
import { keepHeapSmall } from '../../runtime/memory.ts';
import { leftAlone } from '../../runtime/protocols/protection/bpf-layouts.ts';
import { type ProtectionReport, processKey, tierNames } from '../../runtime/protocols/protection/report.ts';
import { createAccessEventSink, createClock } from './access-events.ts';
import { describePassedOver, type Guard, type GuardStatus, type ProtectedProcess } from './guard/contract.ts';
import { createGuard, type StartingGuard } from './guard/create-guard.ts';
import type { Tallies } from './guard/map-readings.ts';
import type { NodeState, OperatorChannel, PodMeasurement, ReportedProcess } from './operator/contract.ts';
import { type Operator, startOperatorChannel } from './operator/start-operator-channel.ts';
import { type PodWatch, startPodWatch } from './pods/start-pod-watch.ts';
import {
  type RegistrationOptions,
  type RegistrationServer,
  startRegistration,
} from './registration/start-registration.ts';
import {
  type AgentConfig,
  type AgentSettings,
  agentSettings,
  checkAgent,
  type ResolvedOperatorSettings,
} from './settings.ts';
import { createTokenGuard } from './tokens/guard-tokens.ts';

const condition = 'guard';

const refusals: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'EROFS'];

export const agent: Component<AgentSettings> = {
  name: 'agent',
  settings: agentSettings,
  check: checkAgent,
  start: startAgent,
};

/**
 * Starts to guard this node. The socket comes first: if another agent answers there, this one ends before it touches
 * any program.
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
  let pods: PodWatch | undefined;
  const onChange = () => channel?.changed();
  const { cgroupRoot } = config;
  const tokens = createTokenGuard({
    ...{ guard, log, metrics, cgroupRoot, signal },
    mayHold: (uid, container) => pods?.mayHoldToken(uid, container) ?? true,
  });
  const registration = await registrationOr(
    {
      ...{ socketPath: config.socket, guard, log, metrics, version, onChange },
      onProtected: tokens.registered,
    },
    health,
  );
  pods = startPodWatch({
    ...{ node, cgroupRoot, guard, log, metrics, health, signal, onChange },
    onCovered: tokens.covered,
  });
  channel = startOperatorChannel({
    ...operatorOf(config),
    ...{ node, version, log, metrics, health, signal, instance: randomUUID() },
    state: createNodeState(config, guard, registration, pods),
  });
  guard.onStatus(onChange);
  guard.onHit(
    createAccessEventSink({
      ...{ log, metrics, channel, clock: createClock() },
      ...{ resolver: pods.resolver, nameOf: pods.nameOf },
    }),
  );
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

/** An agent that cannot create its socket keeps running and shows the reason in `/readyz`; nobody can register. */
async function registrationOr(
  options: RegistrationOptions,
  health: ComponentDeps['health'],
): Promise<RegistrationServer> {
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

function pathsLeftAlone({ guardKernelMemory, guardPerf, guardInterpreters }: AgentConfig): number {
  return (
    (guardKernelMemory ? 0 : leftAlone.kernelMemory) |
    (guardPerf ? 0 : leftAlone.perf) |
    (guardInterpreters ? 0 : leftAlone.interpreters)
  );
}

function guardOf(config: AgentConfig, { log, metrics, health }: ComponentDeps): StartingGuard {
  const measured = createGuardMetrics(metrics);
  const guard = createGuard({
    folder: config.bpfFolder,
    enforce: config.enforce,
    kill: config.reactiveKill,
    left: pathsLeftAlone(config),
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

/** For the start-up line: the tier in force, and why no higher one. */
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

/** The operator from settings that have passed `operatorRules`. */
export function operatorOf(settings: ResolvedOperatorSettings): Operator {
  const { operatorAddr, operatorTlsCert, operatorTlsKey, operatorTlsCa, operatorToken } = settings;
  if (operatorAddr === undefined) return {};
  const [certPath, keyPath, caPath] = [operatorTlsCert, operatorTlsKey, operatorTlsCa];
  if (certPath === undefined || keyPath === undefined || caPath === undefined)
    throw new RangeError('an operator without the three TLS files');
  return { address: operatorAddr, tls: { certPath, keyPath, caPath }, tokenPath: operatorToken };
}

/** Shows in `/readyz` which tier is in force, and why it does not suffice if so. */
export function showStatus(health: Health, status: GuardStatus, requireEnforcement: boolean): void {
  health.fact('tier', status.tier ?? 0);
  health.fact('mechanism', status.tier === undefined ? 'undecided' : tierNames[status.tier]);
  health.fact('enforcing', status.enforcing);
  const isEnough = status.tier !== undefined && status.tier < 4 && (status.enforcing || !requireEnforcement);
  if (isEnough) health.ready(condition);
  else health.notReady(condition, status.reason);
}

export interface GuardMetrics {
  status(status: GuardStatus): void;
  tallies(tallies: Tallies): void;
  canary(failed: boolean): void;
  processes(count: number): void;
}

export function createGuardMetrics(metrics: Metrics): GuardMetrics {
  const tier = metrics.gauge('svc_agent_tier', '1 for the tier in force, 0 for the others', ['tier']);
  const enforcing = metrics.gauge(
    'svc_agent_enforcing',
    '1 while attempts are denied, or their processes killed',
  );
  const processes = metrics.gauge(
    'svc_agent_protected_processes',
    'Registered processes and their descendants, without those that only their pod covers',
  );
  const canaries = metrics.counter('svc_agent_canary_total', 'Attempts on the agent’s own decoy', ['result']);
  const lost = metrics.counter('svc_agent_lost_total', 'Entries lost because a kernel table was full', [
    'what',
  ]);
  const known = new Map<string, number>();
  return {
    status(status) {
      for (const [number, name] of Object.entries(tierNames)) {
        tier.set(Number(number) === status.tier ? 1 : 0, { tier: name });
      }
      enforcing.set(status.enforcing ? 1 : 0);
    },
    tallies(tallies) {
      for (const what of ['hits', 'processes', 'openings'] as const) {
        const total = tallies[`${what}_lost`];
        lost.inc({ what }, Math.max(0, total - (known.get(what) ?? 0)));
        known.set(what, total);
      }
    },
    canary: (failed) => canaries.inc({ result: failed ? 'failed' : 'passed' }),
    processes: (count) => processes.set(count),
  };
}

type PodOf = (process: ProtectedProcess) => string | undefined;

/** Composes the operator's report on this node, on request. */
export function createNodeState(
  { enforce }: { readonly enforce: boolean },
  guard: Guard,
  registration: Pick<RegistrationServer, 'registered' | 'reports'>,
  pods: Pick<PodWatch, 'labelled' | 'crowded' | 'resolver'>,
): () => NodeState {
  const remembering = rememberPods(({ pid }) => pods.resolver.podOfProcess(pid));
  return () => {
    const processes = guard.processes();
    return {
      ...guard.status,
      enforceMode: enforce,
      pods: reportedPods({
        processes,
        registered: registration.registered(),
        reports: registration.reports(),
        labelled: pods.labelled(),
        crowded: pods.crowded(),
        podOf: remembering(processes),
      }),
    };
  };
}

/** A process stays in its pod, so its cgroup is read only once, not for each report on thousands of processes. */
export function rememberPods(find: PodOf): (processes: readonly ProtectedProcess[]) => PodOf {
  let known = new Map<string, string | undefined>();
  return (processes) => {
    const before = known;
    known = new Map(
      processes.map((process) => {
        const key = processKey(process);
        return [key, before.has(key) ? before.get(key) : find(process)];
      }),
    );
    return (process) => known.get(processKey(process));
  };
}

export interface PodSources {
  /** All processes protected by registration or inheritance. */
  readonly processes: readonly ProtectedProcess[];
  /** The processes that registered themselves. */
  readonly registered: readonly ProtectedProcess[];
  readonly reports: readonly ProtectionReport[];
  /** The pods on this node whose label asks for protection. */
  readonly labelled: readonly { readonly uid: string; readonly uncovered: string | undefined }[];
  /** Why not all processes of a pod are covered, by the pod's UID; labelled or not. */
  readonly crowded: ReadonlyMap<string, string>;
  /** UID of a process's pod. */
  readonly podOf: (process: ProtectedProcess) => string | undefined;
}

/**
 * Groups by pod, including labelled pods without a listed process; wrappers come before processes that they started.
 */
export function reportedPods(sources: PodSources): PodMeasurement[] {
  const { processes, registered, reports, labelled, crowded, podOf } = sources;
  const own = new Set(registered.map(processKey));
  const reportOf = new Map(reports.map((report) => [processKey(report), report]));
  const labels = new Map(labelled.map((pod) => [pod.uid, pod]));
  const byPod = new Map<string, ReportedProcess[]>(labelled.map(({ uid }) => [uid, []]));
  for (const process of processes) {
    const uid = podOf(process) ?? '';
    const registration = own.has(processKey(process)) ? 'wrapper' : 'inherited';
    const reported = { ...process, registration, measured: reportOf.get(processKey(process)) } as const;
    const inside = byPod.get(uid);
    if (inside === undefined) byPod.set(uid, [reported]);
    else inside.push(reported);
  }
  return [...byPod].map(([uid, inside]) => {
    const label = labels.get(uid);
    const uncoveredReason = label?.uncovered ?? crowded.get(uid) ?? '';
    return {
      ...{ uid, labelled: label !== undefined, uncoveredReason },
      covered: label !== undefined && uncoveredReason === '',
      processes: inside.sort(wrappersFirst),
    };
  });
}

function wrappersFirst(a: ReportedProcess, b: ReportedProcess): number {
  return Number(b.registration === 'wrapper') - Number(a.registration === 'wrapper');
}
