import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../../testbed/ensure.ts';
import { exec } from '../../testbed/exec.ts';
import type { Kubernetes } from '../kubernetes.ts';
import { HOST_ADDRESS } from './machine.ts';

export const NODE_NAME = 'node-1';
/** Of the Service of the cluster's name server. */
export const DNS_ADDRESS = '10.0.0.10';

const KUBELET = {
  ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
  authentication: {
    ...{ anonymous: { enabled: false }, webhook: { enabled: true } },
    x509: { clientCAFile: '/node/ca.pem' },
  },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'systemd',
  ...{ clusterDNS: [DNS_ADDRESS], clusterDomain: 'cluster.local', resolvConf: '/node/resolv.conf' },
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  // an emulated processor is twenty times as slow: a fifth of it is not what the chart's limits mean, and nothing starts
  cpuCFSQuota: false,
  runtimeRequestTimeout: '15m',
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '2%', 'imagefs.available': '2%' },
  serializeImagePulls: true,
};

export interface NodeFiles {
  readonly kube: Kubernetes;
  /** PEM of the authority behind the registry's certificate. */
  readonly registryCa: string;
  /** Tokens of the node's own users. */
  readonly tokens: Readonly<Record<'kubelet' | 'kube-proxy', string>>;
  /** A script that leads names to the host. */
  readonly outside: string;
}

/**
 * Makes the disk that is mounted at /node: programs, and what they are told.
 * @returns its path
 * @throws ToolUnavailable where a program cannot be built
 */
export async function makeNodeDisk(folder: string, files: NodeFiles): Promise<string> {
  const [node, containerd] = await Promise.all([requireTool('kubernetes-node'), requireTool('containerd')]);
  const root = join(folder, 'node');
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const [name, path] of Object.entries({ ...node.bins, ...containerd.bins })) {
    copyFileSync(path, join(root, 'bin', name));
    chmodSync(join(root, 'bin', name), 0o755);
  }
  const put = (name: string, text: string) => writeFileSync(join(root, name), text, { mode: 0o600 });
  put('kubelet.yaml', JSON.stringify(KUBELET));
  for (const [name, token] of Object.entries(files.tokens))
    put(`${name}.kubeconfig`, kubeconfig(files.kube.port, token));
  put('ca.pem', files.kube.caCert);
  put('registry-ca.pem', files.registryCa);
  put('outside.sh', files.outside);
  // pods get the cluster's name server, and nothing behind it
  put('resolv.conf', '');
  const disk = join(folder, 'node.img');
  await exec('mke2fs', ['-q', '-t', 'ext4', '-m', '0', '-d', root, disk, '512M']);
  return disk;
}

function kubeconfig(port: number, token: string): string {
  const [name, server] = ['node', `https://${HOST_ADDRESS}:${port}`];
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': name },
    clusters: [{ name, cluster: { server, 'certificate-authority': '/node/ca.pem' } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
