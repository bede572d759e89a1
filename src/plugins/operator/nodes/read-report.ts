import type { HitMessage, NodeReportMessage } from './messages.ts';
import { invalid, Refusal } from './refusal.ts';
import { checkShape } from './report-shape.ts';

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
