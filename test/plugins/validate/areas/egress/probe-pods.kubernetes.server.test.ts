import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ProbeTarget,
  probePod,
  probeStatus,
} from '../../../../../src/plugins/validate/areas/egress/enforced.ts';
import { manifest } from '../../../../support/helm.ts';
import { buildImage, type TestImage } from '../../../../support/image.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../../support/operator-cluster.ts';
import { staticBusybox } from '../../../../support/static-busybox.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../../support/temporary.ts';
import type { Stoppable } from '../../../../support/types.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { makeApplicationRoot } from '../../../operator/path/application.ts';
import { type Kubelet, startKubelet } from '../../../operator/path/kubelet/kubelet.ts';
import { type NodeNetwork, startNodeNetwork } from '../../../operator/path/kubelet/network/node-network.ts';
import type { NodeImage } from '../../../operator/path/kubelet/oci-config.ts';
import { runProbePods, runToTheEnd } from '../../cluster/run-probe-pods.ts';
import { reportOf, runValidate } from '../../run-validate.ts';

export const idle = true;
export const timeout = 240_000;
const test = suite('svc validate --probe-pods on a network of its own');
const id = 'SVC-EGRESS-004';
const serverImage = 'registry.example/server:1';
const metricsPort = 8080;
const vaultPort = 8200;

let folder: TemporaryFolder;
let image: TestImage;
let cluster: OperatorCluster;
let kube: Kubernetes;
const images = new Map<string, NodeImage>();
/** With a ServiceConfig, so that the operator keeps a policy there. */
let shop: string;
/** Where the secrets server is. */
let vault: string;

test.before(async () => {
  folder = temporaryFolder('probe-pods');
  image = await buildImage('proxy');
  cluster = await startOperatorCluster({ values: { operator: { leaderElect: true } } });
  kube = cluster.kubernetes;
  const { user, env } = image.target;
  images.set(proxyImage(), { root: image.root, user, env, shared: true });
  const root = mkdtempSync(join(folder.path, 'server-'));
  makeApplicationRoot(root, staticBusybox());
  images.set(serverImage, { root });
  [shop, vault] = [await kube.createNamespace(), await kube.createNamespace()];
  await kube.createServiceAccount({ namespace: 'svc-system', name: 'default' });
  await configure();
});

test.after(async () => {
  await cluster?.stop();
  await image?.remove();
  await folder?.remove();
});

/** That the chart names, and that the probe's pods are made of. */
function proxyImage(): string {
  const { containers } = manifest(cluster.manifests, 'Deployment', 'svc-operator').spec.template.spec;
  const variables: { name: string; value?: string }[] = containers[0].env;
  return variables.find(({ name }) => name === 'SVC_PROXY_IMAGE')?.value ?? '';
}

async function configure(): Promise<void> {
  await kube.apply(
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'vault', namespace: vault } },
      spec: { selector: { app: 'vault' }, ports: [{ port: vaultPort, targetPort: vaultPort }] },
    },
    {
      ...{
        apiVersion: 'svc.io/v1alpha1',
        kind: 'ServiceConfig',
        metadata: { name: 'shop', namespace: shop },
      },
      spec: {
        selector: { matchLabels: { app: 'shop' } },
        vault: { address: `https://vault.${vault}.svc:${vaultPort}` },
      },
    },
  );
  const policies = `/apis/networking.k8s.io/v1/namespaces/${shop}/networkpolicies`;
  await waitFor("the operator's policy", async () => {
    const { json } = await kube.request('GET', `${policies}/svc-egress-${shop}`);
    return JSON.stringify(json).includes(vault);
  });
}

interface Node {
  readonly kubelet: Kubelet;
  readonly network: NodeNetwork;
  /** Addresses by the name of the server, of the pod and of its Service. */
  readonly servers: Readonly<Record<'vault' | 'metrics', { readonly pod: string; readonly service: string }>>;
}

/** A node on which a secrets server and the operator's metrics answer. */
async function onNode(enforces: boolean, work: (node: Node) => Promise<void>): Promise<void> {
  const parts: Stoppable[] = [];
  try {
    const network = await startNodeNetwork({ kube, enforces });
    parts.push(network);
    const nodeName = `node-${randomBytes(3).toString('hex')}`;
    const given = { kube, nodeName, images, network };
    const kubelet = await startKubelet({ ...given, ports: [], busybox: staticBusybox() });
    parts.push(kubelet);
    const at = { kubelet, network };
    const secrets = await serve(at, vault, 'vault', vaultPort);
    const metrics = await serve(at, 'svc-system', 'svc-operator-metrics', metricsPort);
    await work({ ...at, servers: { vault: secrets, metrics } });
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
}

/** Runs a server behind a Service that there is. */
async function serve(
  { kubelet, network }: Pick<Node, 'kubelet' | 'network'>,
  namespace: string,
  service: string,
  port: number,
) {
  const name = `${service}-${kubelet.nodeName}`;
  const command = ['/bin/busybox', 'httpd', '-f', '-p', String(port)];
  await kube.must('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name, labels: { app: service } },
    spec: {
      containers: [{ name: 'server', image: serverImage, command }],
      automountServiceAccountToken: false,
    },
  });
  const run = await kubelet.run(namespace, name);
  const { spec } = await kube.must('GET', `/api/v1/namespaces/${namespace}/services/${service}`);
  const [pod, address]: [string, string] = [run.pod.status?.podIP ?? '', spec.clusterIP];
  await network.publish({ address, port }, { address: pod, port });
  await waitFor(`${service} to answer`, () => run.get(port, '/').then(({ stderr }) => /404/.test(stderr)));
  return { pod, service: address };
}

async function validate({ kubelet }: Node) {
  const probes = runProbePods(kube, kubelet, shop);
  try {
    const flags = { pre: false, check: [id], 'probe-pods': true };
    return await runValidate(flags, { KUBECONFIG: kube.kubeconfig() });
  } finally {
    await probes.stop();
  }
}

test('passes where the policy is enforced', async () => {
  await onNode(true, async (node) => {
    const run = await validate(node);
    assert.is(run.status, 0, run.stdout + run.stderr);
    assert.is(reportOf(run, id).state, 'passed');
  });
});

test('fails where nobody enforces it, and names what was reached', async () => {
  await onNode(false, async (node) => {
    const run = await validate(node);
    assert.is(run.status, 1, run.stdout + run.stderr);
    assert.match(JSON.stringify(reportOf(run, id)), new RegExp(`reaches ${node.servers.metrics.service} `));
  });
});

/** What a protected pod of the shop sees there. */
async function seen({ kubelet }: Node, target: ProbeTarget): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${shop}/pods`;
  const { metadata } = await kube.must('POST', path, probePod(proxyImage(), target, true));
  const status = await runToTheEnd(kube, kubelet, shop, metadata.name);
  await kube.must('DELETE', `${path}/${metadata.name}?gracePeriodSeconds=0`);
  return Object.entries(probeStatus).find(([, code]) => code === status)?.[0];
}

test('the policy that passes lets a protected pod reach its secrets server all the same', async () => {
  await onNode(true, async (node) => {
    const { vault: secrets, metrics } = node.servers;
    assert.is(await seen(node, { host: secrets.service, port: vaultPort }), 'reached');
    assert.is(await seen(node, { host: secrets.pod, port: vaultPort }), 'reached');
    assert.is(await seen(node, { host: secrets.pod, port: vaultPort + 1 }), 'silent');
    assert.is(await seen(node, { host: metrics.pod, port: metricsPort }), 'silent');
  });
});

test('leaves no pod behind', async () => {
  const { items } = await kube.must('GET', `/api/v1/namespaces/${shop}/pods`);
  assert.equal(items, []);
});

test.run();
