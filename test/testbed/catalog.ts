import { awscliCurrent } from './recipes/awscli-current.ts';
import { boto3 } from './recipes/boto3.ts';
import { ciliumPolicyCheck } from './recipes/cilium-policy-check.ts';
import { containerd } from './recipes/containerd.ts';
import { coredns } from './recipes/coredns.ts';
import { cryptography } from './recipes/cryptography.ts';
import { minio, opentofu, rclone, restic, thanos, versitygw } from './recipes/go.ts';
import { hadoopS3a } from './recipes/hadoop-s3a.ts';
import { helm } from './recipes/helm.ts';
import { kernel, kernel612 } from './recipes/kernel.ts';
import { kubeNetworkPolicies } from './recipes/kube-network-policies.ts';
import { kubernetes } from './recipes/kubernetes.ts';
import { kubernetesNode } from './recipes/kubernetes-node.ts';
import { litestream } from './recipes/litestream.ts';
import { minioGoClient } from './recipes/minio-go-client.ts';
import { minioGoSuite } from './recipes/minio-go-suite.ts';
import { networkPolicyJudge } from './recipes/network-policy-judge.ts';
import { nodeImage } from './recipes/node-image.ts';
import { openbao } from './recipes/openbao.ts';
import { promtool } from './recipes/promtool.ts';
import { pythonTools } from './recipes/python-tools.ts';
import { s3Suite } from './recipes/s3-suite.ts';
import { type Recipe, TOOL_NAMES, type ToolName } from './types.ts';

const debian = (command: string): Recipe => ({ kind: 'system', command, debianPackage: command });

/** `rclone-client` and `awscli` are Debian's, quick to have; `rclone` is a current one that can also serve S3. */
export const CATALOG: Readonly<Record<ToolName, Recipe>> = {
  openbao,
  versitygw,
  boto3,
  cryptography,
  awscli: { kind: 'system', command: 'aws', debianPackage: 'awscli' },
  s3cmd: debian('s3cmd'),
  'rclone-client': debian('rclone'),
  'minio-go-client': minioGoClient,
  's3-suite': s3Suite,
  'minio-go-suite': minioGoSuite,
  minio,
  rclone,
  tini: debian('tini'),
  kernel,
  'kernel-6.12': kernel612,
  qemu: { kind: 'system', command: 'qemu-system-x86_64', debianPackage: 'qemu-system-x86' },
  'qemu-arm64': { kind: 'system', command: 'qemu-system-aarch64', debianPackage: 'qemu-system-arm' },
  busybox: { kind: 'system', command: 'busybox', debianPackage: 'busybox-static', versionFlag: '--help' },
  runc: debian('runc'),
  iptables: debian('iptables'),
  libbpf: { kind: 'library', file: 'libbpf.so.1', debianPackage: 'libbpf1' },
  kubernetes,
  'kubernetes-node': kubernetesNode,
  containerd,
  coredns,
  'node-image': nodeImage,
  'kube-network-policies': kubeNetworkPolicies,
  helm,
  promtool,
  'network-policy-judge': networkPolicyJudge,
  'cilium-policy-check': ciliumPolicyCheck,
  'docker-registry': debian('docker-registry'),
  skopeo: debian('skopeo'),
  umoci: debian('umoci'),
  chromium: debian('chromium'),
  zsh: debian('zsh'),
  fish: debian('fish'),
  ruby: debian('ruby'),
  lua: { kind: 'system', command: 'lua5.4', debianPackage: 'lua5.4', versionFlag: '-v' },
  'python-tools': pythonTools,
  'awscli-current': awscliCurrent,
  restic,
  litestream,
  opentofu,
  thanos,
  maven: { kind: 'system', command: 'mvn', debianPackage: 'maven' },
  java: { kind: 'system', command: 'java', debianPackage: 'openjdk-17-jdk-headless' },
  'hadoop-s3a': hadoopS3a,
  pgbackrest: { kind: 'system', command: 'pgbackrest', debianPackage: 'pgbackrest', versionFlag: 'version' },
  postgresql: { kind: 'library', file: 'postgresql/15/bin/postgres', debianPackage: 'postgresql-15' },
};

/** What a virtual machine is made of. */
const VM: readonly ToolName[] = ['kernel', 'qemu', 'busybox', 'runc', 'libbpf'];

/** A registry, and what makes and pushes images. */
const REGISTRY: readonly ToolName[] = ['docker-registry', 'skopeo', 'umoci'];

/** Shells that complete what svc takes, and what runs programs of secrets' writers; bash is everywhere. */
const INTERPRETERS: readonly ToolName[] = ['zsh', 'fish', 'ruby', 'lua'];

const CLIENTS: readonly ToolName[] = ['boto3', 'awscli', 'rclone-client'];

/** What `npm test` needs, in the order to have it: what takes minutes comes last. */
export const TEST_TOOLS: readonly ToolName[] = [
  'openbao',
  'versitygw',
  'cryptography',
  ...VM,
  ...REGISTRY,
  'chromium',
  ...INTERPRETERS,
  ...CLIENTS,
];

/**
 * Turns the names of a command line into tools; `clients`, `registry` and `vm` stand for several.
 * @throws Error naming what is known when a name is not
 */
export function toolsNamed(words: readonly string[]): ToolName[] {
  return words.flatMap((word) => {
    if (word === 'clients') return CLIENTS;
    if (word === 'registry') return REGISTRY;
    if (word === 'vm') return VM;
    if ((TOOL_NAMES as readonly string[]).includes(word)) return [word as ToolName];
    throw new Error(
      `unknown tool ${word}; known: ${[...TOOL_NAMES, 'clients', 'registry', 'vm'].join(', ')}`,
    );
  });
}
