import type {
  AccessEvent,
  AccessOutcome,
  AccessPath,
} from '../../../runtime/protocols/protection/bpf-layouts.ts';
import {
  type MeasuredSecretMemory,
  type ProcessProtection,
  type Tier,
  tierNames,
} from '../../../runtime/protocols/protection/report.ts';
import { AccessEventQueue, type NumberedAccessEvent } from './access-event-queue.ts';
import type {
  MeasuredNode,
  NodeState,
  ObservedAccessEvent,
  PodMeasurement,
  ReportedProcess,
} from './contract.ts';

export interface AgentIdentity {
  readonly node: string;
  /** Random text that identifies this start of the agent. */
  readonly instance: string;
  readonly bootId: string;
  readonly version: string;
}

/** svc.operator.v1.NodeReportReply as loadProtoService decodes it. */
export interface ReportReply {
  readonly acceptedHit: string;
  readonly sendState: boolean;
  readonly minIntervalMs: number;
}

/** A report and what the operator will know after it. */
export interface PendingReport {
  readonly message: object;
  readonly hits: number;
  /** The state in the report; undefined if left out. */
  readonly stateText: string | undefined;
}

/** Limit of waiting access events, equal ones counted once. */
const queueCapacity = 10_000;
/** The schema's bound. */
export const mostHits = 1_000;
/** How long the state counts as unchanged without a call of `changed`: composing it for many processes is expensive. */
const stateKeptMs = 5_000;

/** Counts every access event, by path and outcome. */
class AccessEventCounts {
  readonly #counts = new Map<string, { road: AccessPath; outcome: AccessOutcome; count: number }>();

  add({ road, outcome }: AccessEvent, count = 1): void {
    const key = `${road} ${outcome}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { road, outcome, count });
    else known.count += count;
  }

  /** Counts that are not zero. */
  list(): readonly AccessEventCount[] {
    return [...this.#counts.values()];
  }
}

/** Keeps track of what the operator has been told and what it has not. */
export class PendingReports {
  readonly #identity: AgentIdentity;
  readonly #state: () => NodeState;
  readonly #counts = new AccessEventCounts();
  readonly #queue = new AccessEventQueue(queueCapacity);
  #sequence = 0;
  #toldState: string | undefined;
  #askAgainAt = 0;

  constructor(identity: AgentIdentity, state: () => NodeState) {
    this.#identity = identity;
    this.#state = state;
  }

  /** Number of waiting access events, equal ones counted once. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Number of dropped access events, merged ones counted individually. */
  get dropped(): number {
    return this.#queue.dropped;
  }

  hit(hit: ObservedAccessEvent, count?: number, lastAt?: bigint): void {
    this.#counts.add(hit, count);
    this.#queue.add(hit, count, lastAt);
  }

  /** To be called when the state may have changed. */
  changed(): void {
    this.#askAgainAt = 0;
  }

  /** The next report: waiting access events and, if the operator does not know it yet, the state. */
  next(): PendingReport {
    this.#sequence += 1;
    const hits = this.#queue.take(mostHits);
    const news = this.#stateNews();
    const message = { ...this.#head(), state: news?.state ?? null, hits: hits.map(hitMessage) };
    return { message, hits: hits.length, stateText: news?.text };
  }

  /** @returns whether the operator accepted access events of the report, or it had none */
  answered({ hits, stateText }: PendingReport, { acceptedHit, sendState }: ReportReply): boolean {
    const taken = this.#queue.accept(Number(acceptedHit));
    if (sendState) this.#toldState = undefined;
    else if (stateText !== undefined) this.#toldState = stateText;
    return hits === 0 || taken > 0;
  }

  /** To be called when the last report may or may not have arrived. */
  unanswered(): void {
    this.changed();
  }

  /** To be called when the operator refuses the access events of the report for good. */
  refused(): void {
    this.#queue.refuse();
  }

  /** The state if it differs from what the operator knows; every report repeats it until one is answered. */
  #stateNews(): { state: object; text: string } | undefined {
    if (this.#toldState !== undefined && performance.now() < this.#askAgainAt) return undefined;
    const state = stateMessage(this.#state());
    const text = JSON.stringify(state);
    this.#askAgainAt = performance.now() + stateKeptMs;
    return text === this.#toldState ? undefined : { state, text };
  }

  #head(): object {
    const { node, instance, bootId, version } = this.#identity;
    return {
      node,
      instance,
      bootId,
      agentVersion: version,
      sequence: this.#sequence,
      sentUnixNano: String(BigInt(Date.now()) * 1_000_000n),
      counts: this.#counts.list().map(countMessage),
      droppedHits: this.#queue.dropped,
    };
  }
}

/** svc.operator.v1.HitReport as grpc-js takes it. */
function hitMessage({ number, count, first, lastAt }: NumberedAccessEvent): object {
  const { road, outcome, syscall, syscallName, at } = first;
  return {
    number,
    count,
    firstUnixNano: String(at),
    lastUnixNano: String(lastAt),
    road: roadName(road),
    outcome: outcomeName(outcome),
    syscall,
    syscallName: syscallName ?? '',
    source: sourceMessage(first),
    target: targetMessage(first),
  };
}

/** svc.operator.v1.HitCount as grpc-js takes it. */
export function countMessage({ road, outcome, count }: AccessEventCount): object {
  return { road: roadName(road), outcome: outcomeName(outcome), count };
}

function sourceMessage({
  source: { pid, uid, comm, cgroup },
  sourcePod,
}: NumberedAccessEvent['first']): object {
  return { pid, uid, comm, cgroup: String(cgroup), podUid: sourcePod ?? '' };
}

function targetMessage({ target, targetPod }: NumberedAccessEvent['first']): object | null {
  const { pid, start, comm, cgroup } = target;
  if (pid === 0) return null;
  return { pid, start: String(start), comm, cgroup: String(cgroup), podUid: targetPod ?? '' };
}

const roadName = (road: string): string =>
  road === 'none' ? 'ROAD_UNSPECIFIED' : `ROAD_${road.toUpperCase()}`;
const outcomeName = (outcome: string): string => `OUTCOME_${outcome.toUpperCase()}`;

interface AccessEventCount {
  readonly road: AccessPath;
  readonly outcome: AccessOutcome;
  readonly count: number;
}

/** The schema's bounds. */
const mostPods = 1_000;
const mostProcesses = 5_000;
const mostMeasured = 1_000;
const longestReason = 500;

/** svc.operator.v1.NodeState as grpc-js takes it, within the schema's bounds. */
export function stateMessage(state: NodeState): object {
  const { tier, enforcing, reason, passedOver, enforceMode } = state;
  return {
    tier: tier === undefined ? 'TIER_UNSPECIFIED' : tierName(tier),
    enforcing,
    reason: clip(reason, longestReason),
    passedOver: passedOver.map((one) => ({
      tier: tierName(one.tier),
      reason: clip(one.reason, longestReason),
    })),
    enforceMode,
    ...podMessages(state.pods),
  };
}

function podMessages(pods: readonly PodMeasurement[]): { pods: object[]; processesLeftOut: number } {
  const room = { processes: mostProcesses, measured: mostMeasured };
  const told = pods.slice(0, mostPods).map((pod) => podMessage(pod, room));
  const all = pods.reduce((sum, pod) => sum + pod.processes.length, 0);
  return { pods: told, processesLeftOut: all - (mostProcesses - room.processes) };
}

interface Room {
  processes: number;
  measured: number;
}

function podMessage(pod: PodMeasurement, room: Room): object {
  const { uid, labelled, covered, uncoveredReason, processes } = pod;
  const told = processes.slice(0, room.processes);
  room.processes -= told.length;
  return {
    ...{ podUid: uid, labelled, covered, uncoveredReason: clip(uncoveredReason, longestReason) },
    processes: told.map((process) => processMessage(process, room)),
  };
}

function processMessage({ pid, start, registration, measured }: ReportedProcess, room: Room): object {
  const known = { pid, start: String(start), registration: `REGISTRATION_${registration.toUpperCase()}` };
  if (measured === undefined || room.measured === 0) return known;
  room.measured -= 1;
  return { ...known, measured: measuredMessage(measured) };
}

const tierName = (tier: Tier): string => `TIER_${tierNames[tier].toUpperCase()}`;
const clip = (text: string, length: number): string => text.slice(0, length);

/** The wrapper chooses the text. */
const longestVersion = 64;

/** svc.operator.v1.Measured as grpc-js takes it; parts that were not reported are left out. */
function measuredMessage(measured: MeasuredNode): object {
  const { wrapperVersion, wrapper, application, secretMemory, delivery } = measured;
  return {
    wrapperVersion: wrapperVersion.slice(0, longestVersion),
    wrapper: wrapper && protectionMessage(wrapper),
    application,
    secretMemory: secretMemory && secretMemoryMessage(secretMemory),
    delivery: `DELIVERY_${delivery.toUpperCase()}`,
  };
}

function protectionMessage(wrapper: ProcessProtection): object {
  return { ...wrapper, lockMode: `LOCK_MODE_${wrapper.lockMode.toUpperCase()}` };
}

function secretMemoryMessage(memory: MeasuredSecretMemory): object {
  return { ...memory, kind: `SECRET_MEMORY_KIND_${memory.kind.toUpperCase()}` };
}
