import type { Container, Pod, VolumeMount } from '../../../../../src/cluster/kube/pod.ts';
import type { NodeVolume } from './node-volume.ts';
import { cpuQuota, memoryBytes } from './quantities.ts';

/** What an image is to this kubelet: an unpacked root and what its configuration says. */
export interface NodeImage {
  /** A folder. */
  readonly root: string;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  /** Numeric; default: root. */
  readonly user?: string;
  readonly env?: readonly string[];
  /** Whether containers whose root is read-only use the folder itself and no copy. */
  readonly shared?: boolean;
  /** What the runtime adds where it is mounted as a volume, such as `noexec`. */
  readonly volumeOptions?: readonly string[];
}

export interface ContainerFacts {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: NodeImage;
  readonly root: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly volumes: ReadonlyMap<string, NodeVolume>;
  /** Path of its /etc/hosts. */
  readonly hosts: string;
  /** Process that holds the pod's network namespace. */
  readonly pause: number;
  readonly cgroup: string;
}

/** Containerd's own. */
const defaultCapabilities = [
  ...['CHOWN', 'DAC_OVERRIDE', 'FSETID', 'FOWNER', 'MKNOD', 'NET_RAW', 'SETGID', 'SETUID', 'SETFCAP'],
  ...['SETPCAP', 'NET_BIND_SERVICE', 'SYS_CHROOT', 'KILL', 'AUDIT_WRITE'],
];

/** A container as runc takes it (OCI runtime specification 1.0). */
export function ociConfig(facts: ContainerFacts): object {
  const { container, root, args, env, image, pause, cgroup } = facts;
  const { securityContext = {}, workingDir = '/' } = container;
  const capabilities = capabilitiesOf(container);
  return {
    ociVersion: '1.0.2',
    process: {
      ...{ terminal: false, args, cwd: workingDir, user: userOf(facts) },
      env: [...(image.env ?? ['PATH=/bin']), ...[...env].map(([name, value]) => `${name}=${value}`)],
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: securityContext.allowPrivilegeEscalation === false,
    },
    root: { path: root, readonly: securityContext.readOnlyRootFilesystem === true },
    mounts: [...systemMounts, hostsMount(facts.hosts), ...mountsOf(facts)],
    linux: {
      cgroupsPath: cgroup,
      resources: { devices: [{ allow: false, access: 'rwm' }], ...limitsOf(container) },
      namespaces: [
        ...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        { type: 'network', path: `/proc/${pause}/ns/net` },
      ],
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  };
}

/** @throws Error as the kubelet where a pod that must not run as root would */
function userOf({ pod, container, image }: ContainerFacts): object {
  const inPod = pod.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const [imageUser = 0, imageGroup = 0] = (image.user ?? '0:0').split(':').map(Number);
  const uid = own.runAsUser ?? inPod.runAsUser ?? imageUser;
  const gid = own.runAsGroup ?? inPod.runAsGroup ?? (uid === imageUser ? imageGroup : 0);
  if ((own.runAsNonRoot ?? inPod.runAsNonRoot) && uid === 0)
    throw new Error(`${container.name}: has runAsNonRoot and would run as root`);
  return { uid, gid, additionalGids: inPod.fsGroup === undefined ? [] : [inPod.fsGroup] };
}

function capabilitiesOf({ securityContext }: Container): string[] {
  const { add = [], drop = [] } = securityContext?.capabilities ?? {};
  const kept = drop.includes('ALL') ? [] : defaultCapabilities.filter((name) => !drop.includes(name));
  return [...kept, ...add].map((name) => `CAP_${name}`);
}

function limitsOf({ resources }: Container): object {
  const { cpu, memory } = resources?.limits ?? {};
  return {
    ...(memory === undefined ? {} : { memory: { limit: memoryBytes(memory) } }),
    ...(cpu === undefined ? {} : { cpu: cpuQuota(cpu) }),
  };
}

const systemMounts = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
  {
    ...{ destination: '/dev/shm', type: 'tmpfs', source: 'shm' },
    options: ['nosuid', 'nodev', 'mode=1777', 'size=65536k'],
  },
];

const hostsMount = (source: string) => ({
  ...{ destination: '/etc/hosts', type: 'bind', source },
  options: ['rbind', 'rprivate', 'rw'],
});

/** Parents before what is mounted below them, as the runtime orders them. */
function mountsOf({ container, volumes }: ContainerFacts): object[] {
  const depth = ({ mountPath }: VolumeMount) => mountPath.replace(/\/+$/, '').split('/').length;
  return [...(container.volumeMounts ?? [])]
    .sort((a, b) => depth(a) - depth(b))
    .map(({ name, mountPath, readOnly, subPath = '' }) => {
      const volume = volumes.get(name);
      if (volume === undefined) throw new Error(`${container.name}: there is no volume ${name}`);
      const source = subPath === '' ? volume.path : `${volume.path}/${subPath}`;
      return {
        ...{ destination: mountPath, type: 'bind', source },
        options: ['rbind', 'rprivate', readOnly ? 'ro' : 'rw', ...volume.options],
      };
    });
}
