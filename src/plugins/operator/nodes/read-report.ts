import { visitNested } from '../../../core/protobuf/nested.ts';
import type { HitMessage, NodeReportMessage } from './messages.ts';
import { invalid, Refusal } from './refusal.ts';

/** A report within all bounds. */
export interface NodeReport extends Pick<NodeReportMessage, 'node' | 'instance' | 'state'> {
  readonly sequence: bigint;
  readonly droppedHits: number;
  readonly hits: readonly ReportedHit[];
}

export interface ReportedHit extends Pick<HitMessage, 'road' | 'outcome'> {
  readonly number: number;
  readonly count: number;
  /** Empty where it is in no pod, or where the road leads to all memory. */
  readonly targetPod: string;
}

export type Decode = (bytes: Buffer) => NodeReportMessage;

const nodeName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const longestInstance = 128;

/** @throws Refusal INVALID_ARGUMENT when it exceeds a bound or cannot be read */
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

/** Errors of the decoder quote nothing of the report. */
function decoded(bytes: Buffer, decode: Decode): NodeReportMessage {
  try {
    checkShape(bytes);
    return decode(bytes);
  } catch (error) {
    throw error instanceof Refusal ? error : invalid('the report cannot be read', error);
  }
}

function hitOf({ number, count, road, outcome, target }: HitMessage): ReportedHit {
  const hit = { number: whole('hits.number', number), count: whole('hits.count', count) };
  if (hit.number < 1 || hit.count < 1) throw invalid('hits: numbers and counts from 1');
  return { ...hit, road, outcome, targetPod: target?.podUid ?? '' };
}

function ascending(hits: readonly ReportedHit[]): readonly ReportedHit[] {
  const wrong = hits.some(({ number }, at) => at > 0 && number <= (hits[at - 1]?.number ?? 0));
  if (wrong) throw invalid('hits: numbers ascending');
  return hits;
}

/** Beyond that an instance would have to run for thousands of years. */
function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw invalid(`${name}: at most ${Number.MAX_SAFE_INTEGER}`);
  return value;
}

const longestReport = 1_048_576;

/** What a message of that kind holds, by field number. */
interface Shape {
  readonly [number: number]: Shape | undefined;
  /** How many of it a report holds in all, in how many at most. */
  readonly most?: number;
  readonly name?: string;
}

/** Bounds of the schema, where it has them; the others are far above what an agent sends. */
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
 * Judges a report by its bytes: a megabyte of empty messages would take a hundred of memory once it is decoded.
 * @throws Refusal INVALID_ARGUMENT beyond a bound; ProtobufError when it cannot be read
 */
function checkShape(bytes: Uint8Array): void {
  if (bytes.length > longestReport) throw invalid(`a report has at most ${longestReport} bytes`);
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
