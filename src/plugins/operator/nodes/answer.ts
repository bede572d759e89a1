import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership } from '../contract.ts';
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

/**
 * Lets an agent report for its own node: by a certificate that names it, or by the one that all agents have and the token
 * of its pod, so that a node that was taken cannot speak for another. A connection may outlive the certificate that opened it.
 * @throws Refusal
 */
async function checkCaller(
  { names, expires, token, peer }: Caller,
  node: string,
  tokens: NodeTokens,
): Promise<void> {
  const owner = ownerOf(names, node);
  if (owner === undefined) throw new Refusal('PERMISSION_DENIED', `no certificate for ${node}`);
  if (!(expires.getTime() > Date.now()))
    throw new Refusal('PERMISSION_DENIED', 'the certificate has expired');
  if (owner === 'node') return;
  if (token === undefined)
    throw new Refusal(
      'UNAUTHENTICATED',
      'beside the certificate of all agents, a token of the pod is needed',
    );
  if ((await tokens.nodeOf(token, peer)) !== node)
    throw new Refusal('PERMISSION_DENIED', `the token is of another node than ${node}`);
}

const agents = 'svc://node-agent';

/** `TYPE:value`, where a value with odd characters is a JSON text. */
const alternativeName = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/**
 * What a certificate with these names says of its owner: that it is the agent of this node, or an agent of some node.
 * @param names the subject's alternative names as Node writes them
 */
export function ownerOf(names: string | undefined, node: string): 'node' | 'agent' | undefined {
  const uris = urisOf(names ?? '');
  if (uris.includes(`${agents}/${node}`)) return 'node';
  return uris.includes(agents) ? 'agent' : undefined;
}

/** A name in quotes stays in them, whatever it holds: one that looks like several entries is none of ours. */
function urisOf(names: string): readonly string[] {
  const all = [...names.matchAll(alternativeName)];
  return all.filter(([, type]) => type === 'URI').map(([, , value = '']) => value);
}
