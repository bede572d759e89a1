import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership } from '../contract.ts';
import type { NodeTokens } from './node-tokens.ts';
import type { NodeMetrics, NodeWatch } from './node-watch.ts';
import { type Decode, type NodeReportReply, ReportRefused, readReport } from './read-report.ts';

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

/** Checks reports in the order that the schema defines: leadership, form, caller. */
export function createAnswer(parts: AnswerParts): ReportHandler {
  const { metrics, log } = parts;
  return async (read, decode, caller) => {
    try {
      const reply = await answered(parts, read, decode, caller);
      metrics.report('ok');
      return reply;
    } catch (error) {
      metrics.report(error instanceof ReportRefused ? error.status.toLowerCase() : 'internal');
      if (!(error instanceof ReportRefused)) log.error('nodes.report_failed', describeError(error));
      throw error;
    }
  };
}

async function answered(
  { watch, leadership, tokens }: AnswerParts,
  read: () => Promise<Buffer>,
  decode: Decode,
  caller: Caller,
): Promise<NodeReportReply> {
  checkLeads(leadership);
  const report = readReport(await read(), decode);
  await checkCaller(caller, report.node, tokens);
  // another replica may lead by now
  checkLeads(leadership);
  const { acceptedHit, sendState } = watch.take(report);
  const minIntervalMs = Math.min(longestInterval, watch.registry.size * msForNode);
  return { acceptedHit, sendState, minIntervalMs };
}

function checkLeads({ leading }: Leadership): void {
  if (!leading) throw new ReportRefused('UNAVAILABLE', 'this replica does not lead');
}

/**
 * An agent may report for its own node only, so that a compromised node cannot speak for another. It proves its node by
 * a certificate that names the node, or by the certificate that all agents share and the token of its pod. Expiry is
 * checked too, because a connection may outlive the certificate that opened it.
 * @throws ReportRefused
 */
async function checkCaller(
  { names, expires, token, peer }: Caller,
  node: string,
  tokens: NodeTokens,
): Promise<void> {
  const owner = ownerOf(names, node);
  if (owner === undefined) throw new ReportRefused('PERMISSION_DENIED', `no certificate for ${node}`);
  if (!(expires.getTime() > Date.now()))
    throw new ReportRefused('PERMISSION_DENIED', 'the certificate has expired');
  if (owner === 'node') return;
  if (token === undefined)
    throw new ReportRefused(
      'UNAUTHENTICATED',
      'the certificate that all agents share needs a token of the pod',
    );
  if ((await tokens.nodeOf(token, peer)) !== node)
    throw new ReportRefused('PERMISSION_DENIED', `the token is of another node than ${node}`);
}

const agents = 'svc://node-agent';

/** `TYPE:value`; a value with unusual characters is written as a JSON string. */
const alternativeName = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/**
 * The owner that a certificate with these names states: the agent of this node, or an agent of some node.
 * @param names the subject's alternative names as Node writes them
 */
export function ownerOf(names: string | undefined, node: string): 'node' | 'agent' | undefined {
  const uris = urisOf(names ?? '');
  if (uris.includes(`${agents}/${node}`)) return 'node';
  return uris.includes(agents) ? 'agent' : undefined;
}

/** A quoted name keeps its quotes, so a name that looks like several entries never equals one of ours. */
function urisOf(names: string): readonly string[] {
  const all = [...names.matchAll(alternativeName)];
  return all.filter(([, type]) => type === 'URI').map(([, , value = '']) => value);
}

export interface Caller {
  /** Names of the certificate, as Node writes them. */
  readonly names: string | undefined;
  readonly expires: Date;
  /** The token of its pod, as received; undefined if it sent none. */
  readonly token: string | undefined;
  /** The peer's address, without the port. */
  readonly peer: string;
}

/**
 * @param read the report's bytes; rejects with ReportRefused
 * @returns rejects with ReportRefused
 */
export type ReportHandler = (
  read: () => Promise<Buffer>,
  decode: Decode,
  caller: Caller,
) => Promise<NodeReportReply>;
