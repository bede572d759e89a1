import type { GrpcStatus } from '../../../runtime/protocols/grpc.ts';
import {
  type MeasuredMessage,
  measured,
  type Tier,
  tierNames,
} from '../../../runtime/protocols/protection/report.ts';
import { visitNested } from '../../../runtime/protocols/protobuf.ts';
import type { NodeAgentState, ReportedPod } from '../contract.ts';

/** A report that keeps all bounds. */
export interface NodeReport extends Pick<NodeReportMessage, 'node' | 'instance' | 'state'> {
  readonly sequence: bigint;
  readonly droppedHits: number;
  readonly hits: readonly ReportedAccessEvent[];
}

export interface ReportedAccessEvent extends Pick<HitMessage, 'road' | 'outcome'> {
  readonly number: number;
  readonly count: number;
  /** Empty if the target is in no pod, or if the attack path reads all memory. */
  readonly targetPod: string;
}

export type Decode = (bytes: Buffer) => NodeReportMessage;

const nodeName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const longestInstance = 128;

/** @throws ReportRefused INVALID_ARGUMENT if the report exceeds a bound or cannot be decoded */
export function readReport(bytes: Buffer, decode: Decode): NodeReport {
  const message = decoded(bytes, decode);
  const { node, instance, state } = message;
  if (!nodeName.test(node)) throw invalid('node: the name of a node');
  if (instance === '' || instance.length > longestInstance) {
    throw invalid(`instance: 1 to ${longestInstance} characters`);
  }
  const sequence = BigInt(message.sequence);
  if (sequence < 1n) throw invalid('sequence: from 1');
  const droppedHits = whole('dropped_hits', message.droppedHits);
  return { node, instance, state, sequence, droppedHits, hits: ascending(message.hits.map(hitOf)) };
}

/** The decoder's errors quote nothing from the report, so they may be passed on. */
function decoded(bytes: Buffer, decode: Decode): NodeReportMessage {
  try {
    checkShape(bytes);
    return decode(bytes);
  } catch (error) {
    throw error instanceof ReportRefused ? error : invalid('the report cannot be read', error);
  }
}

function hitOf({ number, count, road, outcome, target }: HitMessage): ReportedAccessEvent {
  const hit = { number: whole('hits.number', number), count: whole('hits.count', count) };
  if (hit.number < 1 || hit.count < 1) throw invalid('hits: numbers and counts from 1');
  return { ...hit, road, outcome, targetPod: target?.podUid ?? '' };
}

function ascending(hits: readonly ReportedAccessEvent[]): readonly ReportedAccessEvent[] {
  const wrong = hits.some(({ number }, at) => at > 0 && number <= (hits[at - 1]?.number ?? 0));
  if (wrong) throw invalid('hits: numbers ascending');
  return hits;
}

/** To exceed this, an instance would have to run for thousands of years. */
function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw invalid(`${name}: at most ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

/** Bytes. */
const longestReport = 1_048_576;

/** @throws ReportRefused INVALID_ARGUMENT */
export function checkLength(bytes: number): void {
  if (bytes > longestReport) throw invalid(`a report has at most ${longestReport} bytes`);
}

/** The bounded parts of a message, by field number. */
interface Shape {
  readonly [number: number]: Shape | undefined;
  /** How many of these messages a report may contain. */
  readonly most?: number;
  readonly name?: string;
}

/** The schema's bounds; where it has none, bounds far above what an agent sends. */
const report: Shape = {
  7: {
    ...{ name: 'state', most: 1 },
    4: { name: 'passed_over', most: 16 },
    6: {
      ...{ name: 'pods', most: 1_000 },
      3: { name: 'processes', most: 5_000, 4: { name: 'measured', most: 1_000 } },
    },
  },
  8: { name: 'counts', most: 100 },
  10: { name: 'hits', most: 1_000 },
};

/**
 * Checks a report before it is decoded: a megabyte of empty messages would decode to a hundred megabytes.
 * @param bytes of a length that was checked
 * @throws ReportRefused INVALID_ARGUMENT beyond a bound; ProtobufError if it cannot be parsed
 */
function checkShape(bytes: Uint8Array): void {
  const counts = new Map<Shape, number>();
  const check = (shape: Shape, start: number, end: number): void =>
    visitNested(bytes, start, end, (number, from, to) => {
      const inner = shape[number];
      if (inner === undefined) return;
      const count = (counts.get(inner) ?? 0) + 1;
      counts.set(inner, count);
      const { most = Number.POSITIVE_INFINITY, name } = inner;
      if (count > most) throw invalid(`${name}: at most ${most}`);
      check(inner, from, to);
    });
  check(report, 0, bytes.length);
}

/**
 * proto/svc/operator/v1 as loadProtoService decodes it: 64-bit numbers are decimal text, enum values names, or numbers
 * if unknown. An absent message is null.
 */
export interface NodeReportMessage {
  readonly node: string;
  readonly instance: string;
  readonly bootId: string;
  readonly agentVersion: string;
  readonly sequence: string;
  readonly state: NodeStateMessage | null;
  readonly droppedHits: string;
  readonly hits: readonly HitMessage[];
}

export interface NodeStateMessage {
  readonly tier: string | number;
  readonly enforcing: boolean;
  readonly reason: string;
  readonly passedOver: readonly { readonly tier: string | number; readonly reason: string }[];
  readonly pods: readonly ProtectedPodMessage[];
}

interface ProtectedPodMessage {
  readonly podUid: string;
  readonly covered: boolean;
  readonly uncoveredReason: string;
  readonly processes: readonly { readonly measured: WrapperMessage | null }[];
}

interface HitMessage {
  readonly number: string;
  readonly count: string;
  readonly road: string | number;
  readonly outcome: string | number;
  readonly target: { readonly podUid: string } | null;
}

export interface NodeReportReply {
  readonly acceptedHit: number;
  readonly sendState: boolean;
  readonly minIntervalMs: number;
}

/** The wrapper chooses the text. */
const longestVersion = 64;

interface WrapperMessage extends MeasuredMessage {
  readonly wrapperVersion: string;
}

/** What a wrapper last reported to its agent. */
function measuredOf(message: WrapperMessage): ReportedPod['reports'][number] {
  return { wrapperVersion: message.wrapperVersion.slice(0, longestVersion), ...measured(message) };
}

/** Why a report is refused; the agent gets status and message. */
export class ReportRefused extends Error {
  override readonly name = 'Refusal';
  readonly status: GrpcStatus;

  constructor(status: GrpcStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const invalid = (message: string, cause?: unknown): ReportRefused =>
  new ReportRefused('INVALID_ARGUMENT', message, cause === undefined ? undefined : { cause });

const tierOf: ReadonlyMap<unknown, Tier> = new Map(
  Object.entries(tierNames).map(([tier, name]) => [`TIER_${name.toUpperCase()}`, Number(tier) as Tier]),
);

/** A tier that is missing or from a later version counts as no protection. */
const noTier: Tier = 4;

/** The schema's bound. */
const longestReason = 500;

/** What a node's agent enforces, for which pods, and why no higher tier. */
export function reportedState(node: string, message: NodeStateMessage): NodeAgentState {
  const tier = tierOf.get(message.tier) ?? noTier;
  return {
    ...{ node, tier, enforcing: message.enforcing && tier !== noTier },
    reason: clipped(message.reason),
    passedOver: passedOverOf(message.passedOver),
    pods: podsOf(message.pods),
  };
}

/** One reason for each known tier, however often it is reported. */
function passedOverOf(messages: NodeStateMessage['passedOver']): NodeAgentState['passedOver'] {
  const reasons = new Map<Tier, string>();
  for (const { tier, reason } of messages) {
    const known = tierOf.get(tier);
    if (known !== undefined && !reasons.has(known)) reasons.set(known, clipped(reason));
  }
  return [...reasons].map(([tier, reason]) => ({ tier, reason })).sort((a, b) => a.tier - b.tier);
}

/** Well-formed, because the API server would store half a surrogate pair as a different text. */
const clipped = (text: string): string => text.slice(0, longestReason).toWellFormed();

/** Processes that belong to no pod are left out. */
function podsOf(messages: readonly ProtectedPodMessage[]): ReadonlyMap<string, ReportedPod> {
  return new Map(messages.filter(({ podUid }) => podUid !== '').map((pod) => [pod.podUid, podOf(pod)]));
}

function podOf({ covered, uncoveredReason, processes }: ProtectedPodMessage): ReportedPod {
  const reports = processes.flatMap(({ measured }) => (measured === null ? [] : [measuredOf(measured)]));
  return {
    covered,
    uncoveredReason: clipped(uncoveredReason),
    processes: processes.length,
    reports,
  };
}
