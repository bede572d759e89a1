import type { TLSSocket } from 'node:tls';
import type { MethodDefinition, ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import { loadProtoService } from '../../../runtime/grpc/load-proto.ts';
import type { NodeReportMessage, NodeReportReply } from './messages.ts';
import type { Decode } from './read-report.ts';
import { Refusal } from './refusal.ts';

type Grpc = typeof import('@grpc/grpc-js');

export interface Caller {
  /** Names of the certificate, as Node writes them. */
  readonly names: string | undefined;
  readonly expires: Date;
  /** Of its pod, as it came; undefined where it shows none. */
  readonly token: string | undefined;
  /** Its address, without the port. */
  readonly peer: string;
}

/** Rejects with a Refusal. */
export type Answer = (bytes: Buffer, decode: Decode, caller: Caller) => Promise<NodeReportReply>;

export interface GrpcEndpoint {
  /** Serves a connection whose certificate was verified. */
  serve(socket: TLSSocket): void;
  /** Has all connections end once what is under way on them is answered, within `graceMs`. */
  retire(graceMs: number): void;
}

/**
 * Longer ones than the schema allows are read too, so that they can be answered as the schema says: gRPC would refuse
 * them as too many, and the agent would try again for ever.
 */
const limits = {
  'grpc.max_receive_message_length': 4 * 1_048_576,
  'grpc.max_concurrent_streams': 4,
  'grpc-node.max_session_memory': 10,
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.enable_channelz': 0,
};

/** Loads gRPC and the schema; reports reach `answer` as the bytes that they are. */
export async function createGrpcEndpoint(answer: Answer): Promise<GrpcEndpoint> {
  const [{ default: grpc }, service] = await Promise.all([
    import('@grpc/grpc-js'),
    loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel'),
  ]);
  const method = service['ReportNode'] as MethodDefinition<NodeReportMessage, NodeReportReply>;
  const server = new grpc.Server(limits);
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
      error instanceof Refusal ? error : new Refusal('INTERNAL', 'an error of ours');
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
