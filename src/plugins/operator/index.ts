import { hostname } from 'node:os';
import { mirrorPlace, parseMirrors } from '../../cluster/images/endpoint.ts';
import type { InjectionDefaults } from '../../cluster/injection/contract.ts';
import type { KubeClient } from '../../cluster/kube/client.ts';
import { createKubeClient } from '../../cluster/kube/create-client.ts';
import { createElector } from '../../cluster/kube/elector.ts';
import { leadersClient } from '../../cluster/kube/lease.ts';
import { followServerVersion } from '../../cluster/kube/server-version.ts';
import type { Component, ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { startHealthServer } from '../../runtime/health/health-server.ts';
import { returnMemoryNowAndThen } from '../../runtime/lifecycle/return-memory.ts';
import { untilAborted } from '../../runtime/lifecycle/wait.ts';
import { keepHeapSmall } from '../../runtime/memory.ts';
import { readAuthorities } from '../../runtime/net/certificates.ts';
import type { ListenAddress } from '../../runtime/settings/listen-address.ts';
import { CallerMemory } from './caller-memory.ts';
import { startCertificates } from './certificates/start-certificates.ts';
import type { Leadership } from './contract.ts';
import { authorityKeys } from './controllers/authority-files.ts';
import { caConfigMapName } from './controllers/ca-config-map.ts';
import { startScoreController } from './controllers/protection-score.ts';
import { startControllers } from './controllers/start-controllers.ts';
import { startEgressController } from './egress/start-egress-controller.ts';
import { createImageCommands } from './images/create-image-commands.ts';
import { createNodeTokens } from './nodes/node-tokens.ts';
import { startNodeChannel } from './nodes/start-node-channel.ts';
import { checkOperator, type OperatorConfig, type OperatorSettings, operatorSettings } from './settings.ts';
import { startClusterView } from './start-cluster-view.ts';
import { mostConnections, startWebhook } from './webhook/start-webhook-server.ts';

/** Names the Service, the lease and the webhook configuration of the chart. */
const serviceName = 'svc-operator';

/** Resident bytes, with pages of files: an idle operator has 88 MiB, one that is full of objects and agents 135. */
const largeBytes = Math.max(120 * 1024 ** 2, 0.9 * process.constrainedMemory());

export const operator: Component<OperatorSettings> = {
  name: 'operator',
  settings: operatorSettings,
  check: checkOperator,
  start: startOperator,
};

/** Dependencies of the parts, and whether this replica leads. */
interface Parts extends ComponentDeps {
  /** Writes only while this replica leads. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly identity: string;
  readonly leadership: Leadership;
}

/**
 * Starts the webhook, which answers on every replica, and the parts that work only on the leader.
 * @throws SvcError (exit 78) if an address, a file or the API server's credentials cannot be used
 */
export async function startOperator(
  config: OperatorConfig,
  deps: ComponentDeps,
  signal: AbortSignal,
): Promise<Running> {
  keepHeapSmall();
  returnMemoryNowAndThen(largeBytes, signal);
  const { health, log } = deps;
  const own = await connected(deps.env);
  const { namespace, identity = hostname() } = config;
  // with any number of replicas, so that changing it leaves none with another one's lease or certificate
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
  const memory = new CallerMemory();
  const shared = { ...parts, cluster, defaults: injectionDefaults(config), certificates, memory };
  const controllers = await startControllers({
    ...shared,
    authorityPaths: { secretsServer: config.caFile, objectStore: config.storeCaFile },
  });
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
    nativeSidecars: version.atLeast(1, 29),
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

/** The kubelet sets this variable in every pod. */
function isInPod(env: ComponentDeps['env']): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined;
}

async function connected(env: ComponentDeps['env']): Promise<KubeClient> {
  const client = await createKubeClient(env);
  if (client !== undefined) return client;
  throw new SvcError('OPERATOR_NO_CLUSTER', 'No API server is configured for the operator', {
    nextStep: 'Run it in a pod with a service account, or set KUBECONFIG.',
    exitStatus: exitStatus.config,
  });
}

/**
 * Private authorities of registries, as PEM; undefined without a file.
 * @throws SvcError (exit 78) if the file cannot be used
 */
export async function registryAuthorities(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readAuthorities(path);
  } catch (cause) {
    throw new SvcError('REGISTRY_CA_UNUSABLE', `SVC_OPERATOR_REGISTRY_CA_FILE: ${path} cannot be used`, {
      ...{ cause, exitStatus: exitStatus.config },
      nextStep: 'Put the PEM certificates of the CAs that issue certificates for the registries into it.',
    });
  }
}

/** Defaults for pods that do not say otherwise. @throws SvcError (exit 78) if the mirrors cannot be parsed */
export function injectionDefaults(config: OperatorConfig): InjectionDefaults {
  const mirrors = parseMirrors(config.registryMirrors ?? []);
  return {
    vaultAddress: config.vaultAddress?.href.replace(/\/$/, ''),
    wrapperImage: config.wrapperImage,
    proxyImage: config.proxyImage,
    imageMirrors: new Map([...mirrors].map(([registry, urls]) => [registry, urls.map(mirrorPlace)])),
    wrapperDelivery: config.wrapperDelivery,
    seccompDefault: config.seccompDefault,
    caConfigMap: config.caFile === undefined ? undefined : caConfigMapName,
    storeAuthorities:
      config.storeCaFile === undefined
        ? undefined
        : { configMap: caConfigMapName, key: authorityKeys.objectStore },
    agentSocket: config.agentSocket,
    tokenAudience: config.tokenAudience,
    envMapOnly: config.envMapOnly,
    development: config.development,
  };
}

/**
 * Authorities that issued the API servers' client certificates, as PEM; undefined without a file.
 * @throws SvcError (exit 78) if the file cannot be used
 */
export async function clientAuthorities(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readAuthorities(path);
  } catch (cause) {
    throw new SvcError(
      'WEBHOOK_CLIENT_CA_UNUSABLE',
      `SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE: ${path} cannot be used`,
      {
        ...{ cause, exitStatus: exitStatus.config },
        nextStep:
          'Put the PEM certificates of the CAs that issue client certificates for the API servers into it.',
      },
    );
  }
}

export interface MetricsServer {
  /** Empty if it is turned off. */
  readonly address: string;
  readonly closed: Promise<void>;
}

/**
 * Serves `/metrics` on a port of its own, apart from the probes.
 * @throws SvcError HEALTH_ADDRESS (exit 78) if it cannot listen there
 */
export async function startMetricsServer(
  at: ListenAddress | undefined,
  { health, metrics }: ComponentDeps,
  signal: AbortSignal,
): Promise<MetricsServer> {
  if (at === undefined) return { address: '', closed: Promise.resolve() };
  const { address, close } = await startHealthServer(at, {
    snapshot: health.snapshot,
    expose: metrics.expose,
  });
  return { address, closed: untilAborted(signal).then(close) };
}
