import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import type { OperatorAddress, TlsPaths } from '../../src/plugins/agent/operator/contract.ts';
import { loadProtoService } from '../../src/runtime/net/load-proto.ts';
import { type CertificateAuthority, createCertificateAuthority, type Identity } from './certificates.ts';
import { freePort } from './ports.ts';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable } from './types.ts';

/** svc.operator.v1.NodeReport as loadProtoService reads it. */
// biome-ignore lint/suspicious/noExplicitAny: reports are picked apart freely
export type SeenReport = any;

/** `hang` never answers. */
export type OperatorAnswer =
  | { readonly sendState?: boolean; readonly minIntervalMs?: number; readonly acceptedHit?: number }
  | { readonly code: keyof typeof grpc.status; readonly details?: string }
  | 'hang';

/** An operator that admits agents by their certificates, writes down what they report and drops repetitions. */
export interface TestOperator extends Stoppable {
  readonly address: OperatorAddress;
  /** For `startFaultProxy`. */
  readonly url: string;
  /** The agent's files: a certificate that admits all nodes. */
  readonly tls: TlsPaths;
  /** Every report that came, repetitions too. */
  readonly reports: readonly SeenReport[];
  /** Hits that were new, in the order of their arrival. */
  readonly hits: readonly SeenReport[];
  /** How many attempts these stand for. */
  hitCount(): number;
  /** From now on. */
  answer: OperatorAnswer;
  /** Called with each report after it was taken in and before it is answered. */
  onReport?: (report: SeenReport) => void;
  /** Ends all connections and listens no more. */
  down(): void;
  /** Listens again on the same port. @param identity default: the former one */
  up(identity?: ServerIdentity): Promise<void>;
  /** Writes the agent's files anew. */
  writeTls(files: { cert?: string; key?: string; ca?: string }): void;
  readonly authority: CertificateAuthority;
}

export interface ServerIdentity {
  readonly server: Identity;
  /** PEM: authorities that agents' certificates may come from. */
  readonly clientCa: string;
}

/** Names of certificates, as proto/svc/operator/v1 says. */
export const anyNode = 'svc://node-agent';
export const oneNode = (node: string): string => `${anyNode}/${node}`;

/** @param options.authority default: one of its own */
export async function startOperator(
  options: { readonly authority?: CertificateAuthority } = {},
): Promise<TestOperator> {
  const folder = temporaryFolder('operator');
  const authority = options.authority ?? createCertificateAuthority('operator CA');
  const port = await freePort();
  const paths = {
    certPath: join(folder.path, 'tls.crt'),
    keyPath: join(folder.path, 'tls.key'),
    caPath: join(folder.path, 'ca.crt'),
  };
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const seen = new Seen();
  let identity = { server: authority.issue({ commonName: 'svc-operator' }), clientCa: authority.cert };
  let server: grpc.Server | undefined;

  const operator: TestOperator = {
    address: { host: '127.0.0.1', port },
    url: `https://127.0.0.1:${port}`,
    tls: paths,
    reports: seen.reports,
    hits: seen.hits,
    hitCount: () => seen.hits.reduce((sum, hit) => sum + Number(hit.count), 0),
    answer: {},
    authority,
    down() {
      server?.forceShutdown();
      server = undefined;
    },
    async up(next = identity) {
      identity = next;
      server = new grpc.Server();
      server.addService(service, {
        ReportNode: (call: Call, reply: SendReply) => answer(operator, seen, call, reply),
      });
      await listen(server, port, identity);
    },
    writeTls({ cert, key, ca }) {
      if (cert !== undefined) writeFileSync(paths.certPath, cert);
      if (key !== undefined) writeFileSync(paths.keyPath, key, { mode: 0o600 });
      if (ca !== undefined) writeFileSync(paths.caPath, ca);
    },
    async stop() {
      operator.down();
      await folder.remove();
    },
  };
  operator.writeTls({ ...authority.issue({ commonName: 'agent', uris: [anyNode] }), ca: authority.cert });
  await operator.up();
  return operator;
}

type Call = grpc.ServerUnaryCall<SeenReport, object>;
type SendReply = grpc.sendUnaryData<object>;

class Seen {
  readonly reports: SeenReport[] = [];
  readonly hits: SeenReport[] = [];
  readonly #accepted = new Map<string, number>();

  /** @returns the highest number that was taken of this instance */
  take(report: SeenReport): number {
    this.reports.push(report);
    let accepted = this.#accepted.get(report.instance) ?? 0;
    for (const hit of report.hits) {
      if (Number(hit.number) <= accepted) continue;
      accepted = Number(hit.number);
      this.hits.push(hit);
    }
    this.#accepted.set(report.instance, accepted);
    return accepted;
  }
}

function answer(operator: TestOperator, seen: Seen, call: Call, reply: SendReply): void {
  const report = call.request;
  if (!admits(call.getAuthContext().sslPeerCertificate?.subjectaltname, report.node)) {
    return reply({ code: grpc.status.PERMISSION_DENIED, details: `no certificate for ${report.node}` });
  }
  const { answer: wanted } = operator;
  if (typeof wanted === 'object' && 'code' in wanted) {
    return reply({ code: grpc.status[wanted.code], details: wanted.details ?? '' });
  }
  const acceptedHit = seen.take(report);
  operator.onReport?.(report);
  if (wanted !== 'hang') reply(null, { acceptedHit, ...wanted });
}

function admits(names: string | undefined, node: string): boolean {
  const given = names?.split(', ') ?? [];
  return given.includes(`URI:${anyNode}`) || given.includes(`URI:${oneNode(node)}`);
}

function listen(
  server: grpc.Server,
  port: number,
  { server: own, clientCa }: ServerIdentity,
): Promise<number> {
  const pair = { cert_chain: Buffer.from(own.cert), private_key: Buffer.from(own.key) };
  const credentials = grpc.ServerCredentials.createSsl(Buffer.from(clientCa), [pair], true);
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, bound: number) => (error ? reject(error) : resolve(bound));
    server.bindAsync(`127.0.0.1:${port}`, credentials, done);
  });
}
