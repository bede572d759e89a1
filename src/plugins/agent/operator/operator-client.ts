import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ChannelOptions, Client, MethodDefinition, ServiceError } from '@grpc/grpc-js';
import { formatListenAddress } from '../../../core/settings/listen-address.ts';
import { loadProtoService } from '../../../runtime/grpc/load-proto.ts';
import type { OperatorAddress } from './contract.ts';
import type { Reply } from './ledger.ts';
import { ReportError } from './report-error.ts';
import type { TlsMaterial } from './tls-files.ts';

/** One connection to one replica of the operator, made at the first call. */
export interface OperatorClient {
  /** @throws ReportError */
  report(message: object, call: CallBounds): Promise<Reply>;
  close(): void;
}

export interface CallBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Shown with the call; undefined: none. */
  readonly token: string | undefined;
}

export type OpenClient = (endpoint: string, address: OperatorAddress, tls: TlsMaterial) => OperatorClient;

/** Sent in place of a name where the address has none: TLS admits no IP address there. */
const nameForAddresses = 'svc-operator';

/** Loads gRPC and the schema. */
export async function clientOpener(): Promise<OpenClient> {
  const { default: grpc } = await import('@grpc/grpc-js');
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const method = service['ReportNode'] as MethodDefinition<object, Reply>;
  return (endpoint, address, { context }) => {
    let closed = false;
    const credentials = grpc.credentials.createFromSecureContext(context, {
      checkServerIdentity: (_, certificate) =>
        closed ? new Error('The client was closed.') : checkServerIdentity(address.host, certificate),
    });
    const client = new grpc.Client(endpoint, credentials, channelOptions(address));
    return {
      report: (message, bounds) => unaryCall(grpc, client, method, message, bounds),
      close() {
        // gRPC connects once more when a client is closed while it waits to connect again, and keeps that connection.
        closed = true;
        client.close();
      },
    };
  };
}

/** Nothing is shared, proxied, counted for debugging or tried again behind our back. */
function channelOptions(address: OperatorAddress): ChannelOptions {
  return {
    'grpc.default_authority': formatListenAddress(address),
    'grpc.ssl_target_name_override': isIP(address.host) ? nameForAddresses : address.host,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    'grpc.enable_retries': 0,
  };
}

type Grpc = typeof import('@grpc/grpc-js');

function unaryCall(
  grpc: Grpc,
  client: Client,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<object, Reply>,
  message: object,
  { timeoutMs, signal, token }: CallBounds,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const answered = (error: ServiceError | null, reply?: Reply) => {
    signal.removeEventListener('abort', cancel);
    if (error !== null) reject(failure(grpc, error));
    else resolve(reply as Reply);
  };
  const options = { deadline: Date.now() + timeoutMs };
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  const call = client.makeUnaryRequest(
    path,
    requestSerialize,
    responseDeserialize,
    message,
    metadata,
    options,
    answered,
  );
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  return promise;
}

function failure({ status }: Grpc, error: ServiceError): ReportError {
  return new ReportError((status[error.code] ?? 'unknown').toLowerCase(), error.details, { cause: error });
}
