import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type SecureContext } from 'node:tls';
import type { ChannelOptions, Client, MethodDefinition, ServiceError } from '@grpc/grpc-js';
import { messageOf } from '../../../runtime/errors.ts';
import { loadProtoService } from '../../../runtime/net/load-proto.ts';
import { formatListenAddress } from '../../../runtime/settings/listen-address.ts';
import { type OperatorAddress, ReportError, type TlsPaths } from './contract.ts';
import type { ReportReply } from './pending-reports.ts';

/** One connection to one replica of the operator, opened at the first call. */
export interface OperatorClient {
  /** @throws ReportError */
  report(message: object, call: CallBounds): Promise<ReportReply>;
  close(): void;
}

export interface CallBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Sent with the call; undefined for none. */
  readonly token: string | undefined;
}

export type OpenClient = (endpoint: string, address: OperatorAddress, tls: TlsMaterial) => OperatorClient;

/** Server name for addresses without a name, because TLS does not permit an IP address there. */
const nameForAddresses = 'svc-operator';

/** Loads gRPC and the schema. */
export async function clientOpener(): Promise<OpenClient> {
  const { default: grpc } = await import('@grpc/grpc-js');
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const method = service['ReportNode'] as MethodDefinition<object, ReportReply>;
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
        // gRPC reconnects when a client is closed during its back-off, and keeps that connection.
        closed = true;
        client.close();
      },
    };
  };
}

/** Turns off sharing, proxies, debugging statistics and automatic retries. */
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
  { path, requestSerialize, responseDeserialize }: MethodDefinition<object, ReportReply>,
  message: object,
  { timeoutMs, signal, token }: CallBounds,
): Promise<ReportReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ReportReply>();
  const answered = (error: ServiceError | null, reply?: ReportReply) => {
    signal.removeEventListener('abort', cancel);
    if (error !== null) reject(failure(grpc, error));
    else resolve(reply as ReportReply);
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

/** A new object whenever the files have changed, so that comparing by identity is enough. */
export interface TlsMaterial {
  readonly context: SecureContext;
  /** Expiry of the agent's certificate. */
  readonly expires: Date;
}

/** The agent's identity and authorities, read before each use; the old ones are kept while new files do not match. */
export class ClientTlsFiles {
  readonly #paths: TlsPaths;
  #seen = '';
  #material: TlsMaterial | undefined;

  constructor(paths: TlsPaths) {
    this.#paths = paths;
  }

  /** @throws ReportError tls_files, if there has never been a usable set of files */
  async current(): Promise<TlsMaterial> {
    try {
      await this.#refresh();
    } catch (cause) {
      if (this.#material === undefined) throw unusable(this.#paths, cause);
    }
    return this.#material as TlsMaterial;
  }

  async #refresh(): Promise<void> {
    const { certPath, keyPath, caPath } = this.#paths;
    const [cert, key, ca] = await Promise.all([readFile(certPath), readFile(keyPath), readFile(caPath)]);
    try {
      const seen = fingerprint([cert, key, ca]);
      if (seen === this.#seen) return;
      this.#material = materialOf(cert, key, ca);
      this.#seen = seen;
    } finally {
      key.fill(0);
    }
  }
}

function materialOf(cert: Buffer, key: Buffer, ca: Buffer): TlsMaterial {
  // For an empty text Node would trust the system's authorities.
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error('the file of authorities has no certificate');
  const context = createSecureContext({ minVersion: 'TLSv1.2', cert, key, ca });
  return { context, expires: new Date(new X509Certificate(cert).validTo) };
}

function fingerprint(parts: readonly Buffer[]): string {
  return parts.map((part) => createHash('sha256').update(part).digest('hex')).join(' ');
}

function unusable({ certPath, keyPath, caPath }: TlsPaths, cause: unknown): ReportError {
  const why = messageOf(cause);
  const names = `${certPath}, ${keyPath}, ${caPath}`;
  return new ReportError('tls_files', `the TLS files cannot be used (${names}): ${why}`, { cause });
}
