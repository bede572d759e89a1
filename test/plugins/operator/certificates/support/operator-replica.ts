import { createServer } from 'node:https';
import type { KubeClient } from '../../../../../src/cluster/kube/client.ts';
import { createElector, type Elector } from '../../../../../src/cluster/kube/elector.ts';
import type { OperatorCertificates } from '../../../../../src/plugins/operator/certificates/follow-certificates.ts';
import {
  type CertificatesOptions,
  startCertificates,
} from '../../../../../src/plugins/operator/certificates/start-certificates.ts';
import { createHealth } from '../../../../../src/runtime/health/health.ts';
import { createLeanMetrics } from '../../../../../src/runtime/health/plain-metrics.ts';
import type { LogFields, Logger } from '../../../../../src/runtime/logging/logger.ts';
import { listen } from '../../../../support/loopback.ts';

/** Certificates of one replica, with everything around them. */
export interface OperatorReplica {
  readonly elector: Elector;
  /** Undefined until there is something to serve with. */
  readonly certificates: OperatorCertificates | undefined;
  readonly started: Promise<OperatorCertificates>;
  readonly log: readonly string[];
  degraded(): Readonly<Record<string, string>>;
  ready(): boolean;
  metrics(): Promise<string>;
  /** As at SIGTERM. */
  stop(): Promise<void>;
}

export type ReplicaOptions = Partial<CertificatesOptions> &
  Pick<CertificatesOptions, 'client' | 'namespace' | 'serviceName'>;

export function startOperatorReplica(options: ReplicaOptions): OperatorReplica {
  const controller = new AbortController();
  const { signal } = controller;
  const log: string[] = [];
  const health = createHealth();
  const metrics = createLeanMetrics();
  const elector = electorOf(options.client, options.namespace, recorder(log), signal);
  let certificates: OperatorCertificates | undefined;
  const started = startCertificates({
    ...{ leadership: elector, leaderElect: true, intervalMs: 500 },
    ...{ metrics, health, log: recorder(log), signal },
    ...options,
  });
  started.then(
    (them) => {
      certificates = them;
    },
    () => {},
  );
  return {
    ...{ elector, started, log },
    get certificates() {
      return certificates;
    },
    degraded: () => health.snapshot().degraded,
    ready: () => health.isReady(),
    metrics: async () => (await metrics.expose()).body,
    async stop() {
      controller.abort(new Error('the test stops it'));
      await started.then(({ closed }) => closed).catch(() => {});
      await elector.closed;
    },
  };
}

function electorOf(client: KubeClient, namespace: string, log: Logger, signal: AbortSignal): Elector {
  const times = { leaseMs: 3_000, renewMs: 2_000, retryMs: 200 };
  return createElector({ client, namespace, name: 'svc-operator', identity: 'test', ...times, log, signal });
}

function recorder(lines: string[]): Logger {
  const write = (event: string, fields: LogFields = {}) =>
    void lines.push(`${event} ${JSON.stringify(fields)}`);
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

export interface AdmittingServer {
  readonly url: string;
  readonly calls: number;
  close(): void;
}

/** A webhook that admits everything, with the certificate that is current. */
export async function startAdmitting(certificates: OperatorCertificates): Promise<AdmittingServer> {
  let calls = 0;
  const server = createServer({ ...certificates.current() }, async (request, response) => {
    const body = JSON.parse((await request.toArray()).join(''));
    calls += 1;
    response.setHeader('content-type', 'application/json');
    // a new connection, so that each admission verifies the certificate
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ ...body, response: { uid: body.request.uid, allowed: true } }));
  });
  certificates.onChange(() => server.setSecureContext({ ...certificates.current() }));
  const { port, stop } = await listen(server);
  return {
    url: `https://localhost:${port}/mutate`,
    get calls() {
      return calls;
    },
    close: () => void stop(),
  };
}
