import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { requireTool } from '../../testbed/ensure.ts';
import { createCertificateAuthority } from '../certificates.ts';
import { launch } from '../child.ts';
import { cleanEnv } from '../clean-env.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes.ts';
import { startOpenBao } from '../openbao.ts';
import { freePort } from '../ports.ts';
import { type Registry, startRegistry } from '../registry.ts';
import { type TemporaryFolder, temporaryFolder } from '../temporary.ts';
import type { ObjectStore, OpenBao, Stoppable } from '../types.ts';
import { startVersityGw } from '../versitygw.ts';
import { waitFor } from '../wait-for.ts';
import { makeNodeDisk, NODE_NAME } from './disk.ts';
import { pushImages } from './images.ts';
import { HOST_ADDRESS, type NodeMachine, startMachine } from './machine.ts';
import { clusterObjects } from './objects.ts';
import { outsideScript, startRelay, startTlsFront } from './outside.ts';

/** The first address of the Services' range, which pods know the API server by. */
const API_SERVICE = '10.0.0.1';
/** An emulated machine on a busy host. */
const PATIENCE_MS = 1_200_000;

/** A cluster with one whole node: a machine with Debian's systemd and kernel, containerd and a kubelet. */
export interface NodeCluster extends Stoppable {
  readonly kube: Kubernetes;
  readonly machine: NodeMachine;
  readonly bao: OpenBao;
  readonly store: ObjectStore;
  readonly registry: Registry;
  /** PEM of the authority behind key server, store and registry, at their names of `OUTSIDE`. */
  readonly outsideCa: string;
  readonly folder: string;
}

/**
 * Starts all of it. Control plane, key server, store and registry are processes of this host.
 * @param say gets told how far it is
 * @throws ToolUnavailable where a part cannot be had
 */
export async function startNodeCluster(say: (text: string) => void): Promise<NodeCluster> {
  const parts: Stoppable[] = [];
  const keep = <T extends Stoppable>(part: T): T => {
    parts.push(part);
    return part;
  };
  const folder = temporaryFolder('node');
  keep({ stop: folder.remove });
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  try {
    return { ...(await start(folder, keep, say)), folder: folder.path, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  folder: TemporaryFolder,
  keep: <T extends Stoppable>(part: T) => T,
  say: (text: string) => void,
): Promise<Omit<NodeCluster, 'stop' | 'folder'>> {
  const proxyPort = await freePort();
  const proxySocket = join(folder.path, 'proxy');
  keep(await startRelay(proxySocket, proxyPort));
  const tokens = { kubelet: randomBytes(16).toString('hex'), 'kube-proxy': randomBytes(16).toString('hex') };
  const nodes = {
    ...{ proxySocket, addresses: [HOST_ADDRESS, API_SERVICE] },
    users: [
      { name: `system:node:${NODE_NAME}`, token: tokens.kubelet, groups: 'system:nodes' },
      { name: 'system:kube-proxy', token: tokens['kube-proxy'], groups: '' },
    ],
  };
  const kube = keep(await startKubernetes({ controllers: true, nodes }));
  keep(await startScheduler(kube, folder.path));
  await kube.apply(...clusterObjects());
  const bao = keep(await startOpenBao());
  const store = keep(await startVersityGw());
  const registry = keep(await startRegistry());
  const authority = createCertificateAuthority('outside of the cluster');
  const front = async (name: string, port: number) =>
    keep(await startTlsFront(authority.issue({ commonName: name, dnsNames: [name] }), port)).port;
  const outside = outsideScript({
    api: kube.port,
    'vault.example.eu': await front('vault.example.eu', bao.port),
    'registry.example': await front('registry.example', registry.port),
    's3.example.eu': await front('s3.example.eu', store.port),
  });
  say('control plane, key server, store and registry are up');
  await pushImages(registry, folder.path);
  say('images are in the registry');
  const disk = await makeNodeDisk(folder.path, { kube, registryCa: authority.cert, tokens, outside });
  const machine = keep(await startMachine({ folder: folder.path, disk, proxyPort }));
  say('the machine has booted');
  await waitFor('the node', () => isReady(kube), { timeoutMs: PATIENCE_MS, details: kube.logs });
  say('the node is ready');
  return { kube, machine, bao, store, registry, outsideCa: authority.cert };
}

async function startScheduler(kube: Kubernetes, folder: string): Promise<Stoppable> {
  const { bins } = await requireTool('kubernetes-node');
  const args = [
    'kube-scheduler',
    `--kubeconfig=${kube.kubeconfig()}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
  return launch(bins['kubernetes-node'] as string, args, { env: cleanEnv({ HOME: folder }), cwd: folder });
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

export async function isReady(kube: Kubernetes): Promise<boolean> {
  const { status, json } = await kube.request('GET', `/api/v1/nodes/${NODE_NAME}`);
  const conditions: readonly Condition[] = json?.status?.conditions ?? [];
  return status === 200 && conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
