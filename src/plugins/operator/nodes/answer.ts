import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership } from '../contract.ts';
import { checkCaller } from './check-caller.ts';
import type { Answer, Caller } from './grpc-endpoint.ts';
import type { NodeReportReply } from './messages.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { NodeTokens } from './node-tokens.ts';
import type { NodeWatch } from './node-watch.ts';
import { type Decode, readReport } from './read-report.ts';
import { Refusal } from './refusal.ts';

export interface AnswerParts {
  readonly watch: NodeWatch;
  readonly leadership: Leadership;
  readonly tokens: NodeTokens;
  readonly metrics: NodeMetrics;
  readonly log: Logger;
}

/** All agents together report at most 250 times a second. */
const msForNode = 4;
const longestInterval = 60_000;

/** Answers reports as the schema says, in its order: who leads, whether it can be read, who may report it. */
export function createAnswer(parts: AnswerParts): Answer {
  const { metrics, log } = parts;
  return async (bytes, decode, caller) => {
    try {
      const reply = await answered(parts, bytes, decode, caller);
      metrics.report('ok');
      return reply;
    } catch (error) {
      metrics.report(error instanceof Refusal ? error.status.toLowerCase() : 'internal');
      if (!(error instanceof Refusal)) log.error('nodes.report_failed', describeError(error));
      throw error;
    }
  };
}

async function answered(
  { watch, leadership, tokens }: AnswerParts,
  bytes: Buffer,
  decode: Decode,
  caller: Caller,
): Promise<NodeReportReply> {
  checkLeads(leadership);
  const report = readReport(bytes, decode);
  await checkCaller(caller, report.node, tokens);
  // another may lead by now
  checkLeads(leadership);
  const { acceptedHit, sendState } = watch.take(report);
  const minIntervalMs = Math.min(longestInterval, watch.book.size * msForNode);
  return { acceptedHit, sendState, minIntervalMs };
}

function checkLeads({ leading }: Leadership): void {
  if (!leading) throw new Refusal('UNAVAILABLE', 'this replica does not lead');
}
