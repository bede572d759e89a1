import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import { type KvStore, kvStore } from '../../../support/kv.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { staticBusybox } from '../../../support/static-busybox.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import type { OpenBao, Stoppable } from '../../../support/types.ts';
import { makeWrapperRoot } from '../../../support/wrapper-root.ts';
import { makeApplicationRoot } from './application.ts';
import { acceptServiceAccounts, allowRole } from './key-server.ts';
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts';
import type { NodeImage } from './kubelet/oci-config.ts';

/** What the chart's values name; nothing is pulled from there. */
export const wrapperImage = 'registry.example/svc/wrapper:test';
export const proxyImage = 'registry.example/svc/svc:test';
export const appImage = 'registry.example/app:1';

/** API server, operator, key server and a node, from a pod's annotations to its processes. */
export interface World extends Stoppable {
  readonly cluster: OperatorCluster;
  readonly kube: Kubernetes;
  readonly bao: OpenBao;
  readonly kv: KvStore;
  readonly kubelet: Kubelet;
  readonly busybox: string;
  /** The node's, by reference. */
  readonly images: Map<string, NodeImage>;
  /** Makes the root of an image in an empty folder. @returns its path */
  makeRoot(make: (root: string) => void): string;
  /** A namespace whose service account `default` may log in as the role `app` and read below `secret/`. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<string>;
}

export interface WorldOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Of the chart. */
  readonly values?: object;
  /** The folder that pods know as the node's root. Default: the root of this machine. */
  readonly hostRoot?: string;
  /** Further ports of loopback that pods reach. */
  readonly ports?: readonly number[];
}

/** @throws ToolUnavailable where a part of it cannot be had */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = temporaryFolder('path');
  const parts: Stoppable[] = [];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
    await folder.remove();
  };
  try {
    const bao = await startOpenBao({ tls: true });
    parts.push(bao);
    const kv = await kvStore(bao);
    const cluster = await startOperatorCluster({
      env: { ...operatorEnv(bao), ...options.env },
      ...(options.values && { values: options.values }),
    });
    parts.push(cluster);
    const { kubernetes: kube } = cluster;
    await acceptServiceAccounts(bao, kube);
    const images = new Map<string, NodeImage>();
    const makeRoot: World['makeRoot'] = (make) => {
      const root = mkdtempSync(join(folder.path, 'image-'));
      chmodSync(root, 0o755);
      make(root);
      return root;
    };
    const busybox = staticBusybox();
    images.set(wrapperImage, { root: makeRoot(makeWrapperRoot), user: '65532:65532', env: [], shared: true });
    images.set(appImage, { root: makeRoot((root) => makeApplicationRoot(root, busybox)) });
    const ports = [bao.port, ...(options.ports ?? [])];
    const nodeName = `node-${randomBytes(3).toString('hex')}`;
    const hostRoot = options.hostRoot ?? '/';
    const kubelet = await startKubelet({ kube, nodeName, images, ports, busybox, hostRoot });
    parts.push(kubelet);
    const namespace = async (labels = {}) => {
      const name = await kube.createNamespace(labels);
      await publishRootCa(kube, name);
      await allowRole(bao, 'app', name, [kv.policy]);
      return name;
    };
    return { cluster, kube, bao, kv, kubelet, busybox, images, makeRoot, namespace, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const operatorEnv = (bao: OpenBao): NodeJS.ProcessEnv => ({
  SVC_OPERATOR_VAULT_ADDR: bao.url,
  SVC_OPERATOR_CA_FILE: bao.caFile,
  SVC_WRAPPER_IMAGE: wrapperImage,
  SVC_PROXY_IMAGE: proxyImage,
  // there is none, unless a test says so
  SVC_OPERATOR_AGENT_SOCKET: undefined,
});

/** What the controller manager does: each pod mounts it beside its token. */
async function publishRootCa(kube: Kubernetes, namespace: string): Promise<void> {
  await kube.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    metadata: { name: 'kube-root-ca.crt' },
    data: { 'ca.crt': kube.caCert },
  });
}
