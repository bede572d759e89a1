import type { TLSSocket } from 'node:tls';
import type {
  MethodDefinition,
  ServerInterceptor,
  ServerUnaryCall,
  ServiceDefinition,
  sendUnaryData,
} from '@grpc/grpc-js';
import { Budget } from '../../../core/budget.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { loadProtoService } from '../../../runtime/net/load-proto.ts';
import type { Leadership } from '../contract.ts';
import type { NodeTokens } from './node-tokens.ts';
import type { NodeMetrics, NodeWatch } from './node-watch.ts';
import {
  type Decode,
  type NodeReportMessage,
  type NodeReportReply,
  ReportRefused,
  readReport,
} from './read-report.ts';

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
  return async (bytes, decode, caller) => {
    try {
      const reply = await answered(parts, bytes, decode, caller);
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
  bytes: Buffer,
  decode: Decode,
  caller: Caller,
): Promise<NodeReportReply> {
  checkLeads(leadership);
  const report = readReport(bytes, decode);
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

type Grpc = typeof import('@grpc/grpc-js');

interface Caller {
  /** Names of the certificate, as Node writes them. */
  readonly names: string | undefined;
  readonly expires: Date;
  /** The token of its pod, as received; undefined if it sent none. */
  readonly token: string | undefined;
  /** The peer's address, without the port. */
  readonly peer: string;
}

/** Rejects with ReportRefused. */
type ReportHandler = (bytes: Buffer, decode: Decode, caller: Caller) => Promise<NodeReportReply>;

export interface GrpcEndpoint {
  /** Serves a connection whose certificate was verified. */
  serve(socket: TLSSocket): void;
  /** Ends all connections once their pending requests are answered, within `graceMs`. */
  retire(graceMs: number): void;
}

/**
 * Receives longer reports than the schema allows, to answer them as the schema says: gRPC itself would refuse them as
 * too large, and the agent would retry forever.
 */
const limits = {
  'grpc.max_receive_message_length': 2 * 1_048_576,
  'grpc.max_concurrent_streams': 4,
  'grpc-node.max_session_memory': 10,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.enable_channelz': 0,
};

/**
 * Reports being read or answered at a time, for all connections together: 16 MiB. The others stay unread in the
 * network, where the flow control of HTTP/2 holds them.
 */
const reportsAtOnce = 8;
/** Milliseconds from the beginning of a report to its answer. */
const reportTimeoutMs = 10_000;

/** Loads gRPC and the schema; reports reach `answer` as bytes. */
export async function createGrpcEndpoint(answer: ReportHandler): Promise<GrpcEndpoint> {
  const [{ default: grpc }, service] = await Promise.all([
    import('@grpc/grpc-js'),
    loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel'),
  ]);
  const method = service['ReportNode'] as MethodDefinition<NodeReportMessage, NodeReportReply>;
  const server = new grpc.Server({ ...limits, interceptors: [takeTurns(grpc)] });
  const raw = { ...method, requestDeserialize: (bytes: Buffer) => bytes };
  server.addService({ ReportNode: raw } as ServiceDefinition, {
    ReportNode: (call: Call, reply: sendUnaryData<NodeReportReply>) =>
      void respond(grpc, () => answer(call.request, method.requestDeserialize, callerOf(call)), reply),
  });
  const inject = () => server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  let injector = inject();
  return {
    serve: (socket) => injector.injectConnection(socket),
    retire(graceMs) {
      const former = injector;
      injector = inject();
      former.drain(graceMs);
      former.destroy();
    },
  };
}

/** Has each call wait for its turn before anything of its message is read. */
function takeTurns(grpc: Grpc): ServerInterceptor {
  const turns = new Budget(reportsAtOnce);
  return (_method, call) => {
    const turn = turns.ask(1);
    const end = () => {
      clearTimeout(timer);
      if (!turn.giveUp()) turn.release();
    };
    const intercepted = new grpc.ServerInterceptingCall(call, {
      start: (next) => next({ onCancel: end }),
      sendStatus(status, next) {
        end();
        next(status);
      },
    });
    const read = intercepted.startRead.bind(intercepted);
    intercepted.startRead = () => void turn.granted.then((granted) => granted && read());
    const tooLate = { code: grpc.status.DEADLINE_EXCEEDED, details: 'the report did not arrive in time' };
    const timer = setTimeout(() => intercepted.sendStatus(tooLate), reportTimeoutMs).unref();
    return intercepted;
  };
}

type Call = ServerUnaryCall<Buffer, NodeReportReply>;

async function respond(
  grpc: Grpc,
  answer: () => Promise<NodeReportReply>,
  reply: sendUnaryData<NodeReportReply>,
): Promise<void> {
  try {
    reply(null, await answer());
  } catch (error) {
    const { status, message } =
      error instanceof ReportRefused ? error : new ReportRefused('INTERNAL', 'an internal error');
    reply({ code: grpc.status[status], details: message });
  }
}

function callerOf(call: Call): Caller {
  const certificate = call.getAuthContext().sslPeerCertificate;
  const [authorization] = call.metadata.get('authorization');
  return {
    names: certificate?.subjectaltname,
    expires: new Date(certificate?.valid_to ?? 0),
    token: /^Bearer (\S+)$/.exec(String(authorization ?? ''))?.[1],
    peer: call.getPeer().replace(/:\d+$/, ''),
  };
}
