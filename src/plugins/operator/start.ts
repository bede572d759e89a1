import { hostname } from 'node:os';
import { exitStatus, SvcError } from '../../core/errors.ts';
import type { ComponentDeps, Running } from '../../runtime/component/contract.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createKubeClient } from '../../runtime/kube/create-client.ts';
import { createElector } from '../../runtime/kube/elector.ts';
import { leadersClient } from '../../runtime/kube/leaders-client.ts';
import { followServerVersion, isAtLeast } from '../../runtime/kube/server-version.ts';
import { keepHeapSmall } from '../../runtime/memory/small-heap.ts';
import { startCertificates } from './certificates/start-certificates.ts';
import { startClusterView } from './cluster/start-cluster-view.ts';
import type { Leadership } from './contract.ts';
import { startControllers } from './controllers/start-controllers.ts';
import { injectionDefaults } from './defaults.ts';
import { startEgressController } from './egress/start-egress-controller.ts';
import { createImageCommands } from './images/create-image-commands.ts';
import { registryAuthorities } from './images/registry-authorities.ts';
import { startMetricsServer } from './metrics-server.ts';
import { createNodeTokens } from './nodes/node-tokens.ts';
import { startNodeChannel } from './nodes/start-node-channel.ts';
import { startScoreController } from './score/start-score-controller.ts';
import type { OperatorConfig } from './settings.ts';
import { clientAuthorities } from './webhook/client-authorities.ts';
import { mostConnections } from './webhook/server.ts';
import { startWebhook } from './webhook/start-webhook.ts';

/** Names the Service, the lease and the webhook configuration of the chart. */
const serviceName = 'svc-operator';

/** What every part is given, and whether this replica leads. */
interface Parts extends ComponentDeps {
  /** Writes only while it does. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly identity: string;
  readonly leadership: Leadership;
}

/**
 * Starts the webhook, which answers on every replica, and what the leader alone does.
 * @throws SvcError (exit 78) where an address, a file or the API server's credentials cannot be had
 */
export async function startOperator(
  config: OperatorConfig,
  deps: ComponentDeps,
  signal: AbortSignal,
): Promise<Running> {
  keepHeapSmall();
  const { health, log } = deps;
  const own = await connected(deps.env);
  const { namespace, identity = hostname() } = config;
  // whatever the number of replicas, so that none is left with another one's lease, or certificate, when it changes
  const leadership = createElector({
    ...{ client: own, namespace, name: serviceName, identity, log, signal },
    takeOver: !config.leaderElect,
  });
  const client = leadersClient(own, leadership);
  const parts: Parts = { ...deps, client, signal, namespace, identity, leadership };
  leadership.onChange((leading) => health.fact('leading', leading));
  const cluster = startClusterView(parts);
  health.notReady('cluster', 'The cluster is not listed yet.');
  void cluster.whenSynced().then(() => health.ready('cluster'));
  const version = followServerVersion(client, log, signal);
  health.notReady(
    'version',
    'The version of the API server, which decides about native sidecars, is not known yet.',
  );
  void version.known.then(() => health.ready('version'));
  const certificates = await startCertificates({
    ...parts,
    ...{ serviceName, certDir: config.certDir },
  });
  const shared = { ...parts, cluster, defaults: injectionDefaults(config), certificates };
  const controllers = await startControllers({ ...shared, caFile: config.caFile });
  const { events, indexes, hasForeignAuthorities } = controllers;
  const webhook = await startWebhook({
    ...{ ...shared, address: config.webhook, indexes, hasForeignAuthorities },
    timeoutMs: config.reviewTimeout,
    clientAuthorities: await clientAuthorities(config.webhookClientCaFile),
    images: createImageCommands({
      ...parts,
      mirrors: config.registryMirrors ?? [],
      authorities: await registryAuthorities(config.registryCaFile),
      credentialsPath: config.registryCredentials,
      local: !isInPod(deps.env),
      mostWaiting: mostConnections / 2,
    }),
    nativeSidecars: () => isAtLeast(version.current, 1, 29),
  });
  const nodes = await startNodeChannel({
    ...{ ...shared, address: config.grpc },
    tokens: createNodeTokens({ ...parts, client: own }),
  });
  const egress = startEgressController({ ...shared, events }, indexes);
  const score = startScoreController({ ...shared, nodes, egress, indexes });
  const metrics = await startMetricsServer(config.metrics, deps, signal);
  const all = [
    cluster,
    version,
    certificates,
    webhook,
    nodes,
    controllers,
    egress,
    score,
    leadership,
    metrics,
  ];
  return {
    facts: { webhook: webhook.address, grpc: nodes.address, metrics: metrics.address, server: client.server },
    closed: Promise.all(all.map((part) => part?.closed)).then(() => client.close()),
  };
}

/** The kubelet sets it in every pod. */
function isInPod(env: ComponentDeps['env']): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined;
}

async function connected(env: ComponentDeps['env']): Promise<KubeClient> {
  const client = await createKubeClient(env);
  if (client !== undefined) return client;
  throw new SvcError('OPERATOR_NO_CLUSTER', 'There is no API server to be the operator of', {
    nextStep: 'Run it in a pod with a service account, or set KUBECONFIG.',
    exitStatus: exitStatus.config,
  });
}
