import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperatorAddress, TlsPaths } from '../../../../src/plugins/agent/operator/contract.ts';
import { ReportRefused } from '../../../../src/plugins/operator/nodes/read-report.ts';
import {
  type NodeChannel,
  type NodeChannelOptions,
  startNodeChannel,
} from '../../../../src/plugins/operator/nodes/start-node-channel.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../../support/certificates.ts';
import { anyNode } from '../../../support/operator-channel.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { type LogLine, recordingLog } from '../../agent/access-events/recording-log.ts';
import { type AdjustableLeadership, adjustableLeadership } from '../leadership.ts';

export interface ChannelRig {
  readonly channel: NodeChannel;
  readonly leadership: AdjustableLeadership;
  readonly lines: readonly LogLine[];
  readonly health: ReturnType<typeof createHealth>;
  readonly address: OperatorAddress;
  /** The agent's files: a certificate that admits all nodes. */
  readonly tls: TlsPaths;
  readonly authority: CertificateAuthority;
  /** A file with the token of a node's agent, as this rig's API server would have it. */
  tokenOf(node: string): string;
  /** Moves the channel's clock on. */
  wait(ms: number): void;
  /** Replaces the operator's certificate and the authorities of agents. */
  renew(authority: CertificateAuthority, clientAuthorities?: string): void;
  writeTls(files: { cert?: string; key?: string; ca?: string }): void;
  /** The value of a line of `/metrics`. */
  metric(line: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

export async function startChannel(
  limits: NodeChannelOptions['limits'] = {},
  connections = 512,
): Promise<ChannelRig> {
  const folder = temporaryFolder('node-channel');
  const tls = {
    certPath: join(folder.path, 'tls.crt'),
    keyPath: join(folder.path, 'tls.key'),
    caPath: join(folder.path, 'ca.crt'),
  };
  const authority = createCertificateAuthority('nodes CA');
  const certificates = adjustableCertificates(authority);
  const leadership = adjustableLeadership(true);
  const { log, lines } = recordingLog();
  const metrics = createLeanMetrics();
  const health = createHealth();
  const end = new AbortController();
  let ahead = 0;
  const channel = await startNodeChannel({
    address: { host: '127.0.0.1', port: 0 },
    ...{ certificates, leadership, tokens, log, metrics, health, limits, connections, signal: end.signal },
    now: () => performance.now() + ahead,
  });
  const writeTls: ChannelRig['writeTls'] = ({ cert, key, ca }) => {
    if (cert !== undefined) writeFileSync(tls.certPath, cert);
    if (key !== undefined) writeFileSync(tls.keyPath, key, { mode: 0o600 });
    if (ca !== undefined) writeFileSync(tls.caPath, ca);
  };
  writeTls({ ...authority.issue({ commonName: 'agent', uris: [anyNode] }), ca: authority.cert });
  return {
    ...{ channel, leadership, lines, health, tls, authority, writeTls },
    tokenOf(node) {
      const path = join(folder.path, `token-${node}`);
      writeFileSync(path, `token-of-${node}\n`);
      return path;
    },
    address: { host: '127.0.0.1', port: Number(channel.address.split(':').at(-1)) },
    renew: certificates.renew,
    wait(ms) {
      ahead += ms;
    },
    async metric(line) {
      const { body } = await metrics.expose();
      const found = body.split('\n').find((one) => one.startsWith(`${line} `));
      return found === undefined ? undefined : Number(found.slice(line.length));
    },
    async stop() {
      end.abort();
      await channel.closed;
      await folder.remove();
    },
  };
}

const tokens = {
  async nodeOf(token: string): Promise<string> {
    const [, node] = /^token-of-(.+)$/.exec(token) ?? [];
    if (node === undefined)
      throw new ReportRefused('UNAUTHENTICATED', 'the API server does not accept the token');
    return node;
  },
};

function adjustableCertificates(first: CertificateAuthority) {
  const handles: (() => void)[] = [];
  let identity = first.issue({ commonName: 'svc-operator' });
  let authorities = first.cert;
  return {
    current: () => identity,
    clientAuthorities: () => authorities,
    onChange: (handle: () => void) => void handles.push(handle),
    renew(authority: CertificateAuthority, clientAuthorities = authority.cert) {
      identity = authority.issue({ commonName: 'svc-operator' });
      authorities = clientAuthorities;
      for (const handle of handles) handle();
    },
  };
}
