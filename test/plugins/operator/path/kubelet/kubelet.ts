import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { ToolUnavailable } from '../../../../support/tool-unavailable.ts';
import type { CommandResult, Stoppable } from '../../../../support/types.ts';
import { requireTool } from '../../../../testbed/ensure.ts';
import { removeCgroups } from './cgroups.ts';
import type { ContainerRun } from './container.ts';
import type { PodNetwork } from './network/contract.ts';
import type { NodeImage } from './oci-config.ts';
import type { PodFacts } from './pod-facts.ts';
import { get, handle, startFor, startInitContainers } from './pod-run.ts';
import { startSandbox } from './sandbox.ts';
import { endAll } from './termination.ts';
import { makeVolumes } from './volumes.ts';

export interface KubeletOptions {
  readonly kube: Kubernetes;
  readonly nodeName: string;
  /** By the references that pods use. */
  readonly images: ReadonlyMap<string, NodeImage>;
  /** Of this machine's loopback that pods reach on theirs. */
  readonly ports: readonly number[];
  /** A static binary. */
  readonly busybox: string;
  /** The folder that pods know as the node's root. Default: the root of this machine. */
  readonly hostRoot?: string;
  /** Default: none, pods reach `ports` alone. */
  readonly network?: PodNetwork;
}

/** A node that runs pods; see README.md. */
export interface Kubelet extends Stoppable {
  readonly nodeName: string;
  /** Name of the cgroup of all its pods, in each hierarchy. */
  readonly cgroup: string;
  /**
   * Takes the pod and starts it.
   * @throws Error where an init container fails or a container cannot be started; what ran has been ended then
   */
  run(namespace: string, name: string): Promise<PodRun>;
}

export interface PodRun extends Stoppable {
  /** As it is on the node. */
  readonly pod: Pod;
  /** Paths of its volumes, by name. */
  readonly volumes: ReadonlyMap<string, string>;
  container(name: string): ContainerRun;
  /** One look of a probe of a container, or a run of a hook. */
  probe(container: string, kind: ProbeKind): Promise<CommandResult>;
  /** Asks for a path at a port of the pod's address. Status 0 is success. */
  get(port: number, path: string): Promise<CommandResult>;
  /** Ends it as when it is deleted. `stop` kills what is left. */
  end(): Promise<void>;
}

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe' | 'postStart' | 'preStop';

/** @throws ToolUnavailable where there is no runc, or for anybody but root */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  if (process.getuid?.() !== 0) throw new ToolUnavailable('runc', 'not root');
  const { bins } = await requireTool('runc');
  const { kube, nodeName } = options;
  await kube.must('POST', '/api/v1/nodes', { metadata: { name: nodeName } });
  const folder = temporaryFolder('kubelet');
  const cgroup = `svc-test-path-${randomBytes(6).toString('hex')}`;
  const running = new Set<PodRun>();
  let count = 0;
  return {
    ...{ nodeName, cgroup },
    async run(namespace, name) {
      count += 1;
      const number = count;
      const bound = await bind(kube, namespace, name, nodeName);
      const pod = { ...bound, status: { ...bound.status, podIP: `10.244.0.${number}` } };
      const place = join(folder.path, `${number}`);
      const runc = { program: bins['runc'] as string, folder: join(place, 'runc') };
      const run = await startPod({ ...options, pod, runc, cgroup, place });
      running.add(run);
      return run;
    },
    async stop() {
      await Promise.all([...running].map((run) => run.stop()));
      removeCgroups(cgroup);
      await folder.remove();
    },
  };
}

/** What a scheduler does. */
async function bind(kube: Kubernetes, namespace: string, name: string, node: string): Promise<Pod> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const target = { apiVersion: 'v1', kind: 'Node', name: node };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
  await kube.must('POST', `${path}/binding`, binding);
  return kube.must('GET', path);
}

interface Place extends Omit<KubeletOptions, 'nodeName'>, Pick<PodFacts, 'pod' | 'runc' | 'cgroup'> {
  /** A folder of the pod's own, which is not there yet. */
  readonly place: string;
}

async function startPod({ place, ports, cgroup, network, hostRoot = '/', ...given }: Place): Promise<PodRun> {
  const { kube, pod, runc } = given;
  const inside = (name: string) => {
    mkdirSync(join(place, name), { recursive: true });
    return join(place, name);
  };
  mkdirSync(runc.folder, { recursive: true });
  const volumes = await makeVolumes({ kube, images: given.images, hostRoot }, pod, inside('volumes'));
  const hosts = join(place, 'hosts');
  writeFileSync(hosts, `127.0.0.1 localhost\n${pod.status?.podIP} ${pod.metadata.name}\n`);
  const sandbox = await startSandbox(inside('ports'), pod.status?.podIP ?? '', ports);
  const facts: PodFacts = {
    ...{ ...given, volumes, sandbox, hosts },
    cgroup: `/${cgroup}/kubepods/burstable/pod${pod.metadata.uid}`,
  };
  const containers = new Map<string, ContainerRun>();
  const add = (run: ContainerRun) => void containers.set(run.name, run);
  const stop = async () => {
    for (const run of containers.values()) if (!run.ended) run.signal('SIGKILL');
    await Promise.all([...containers.values()].map(({ exited }) => exited));
    await sandbox.stop();
  };
  try {
    await network?.attach(pod, sandbox.pid);
    await startInitContainers(facts, add);
    for (const container of pod.spec.containers) add(await startFor(facts, container));
  } catch (error) {
    await stop();
    throw error;
  }
  return podRun(facts, containers, stop);
}

function podRun(
  facts: PodFacts,
  containers: ReadonlyMap<string, ContainerRun>,
  stop: () => Promise<void>,
): PodRun {
  const { spec } = facts.pod;
  const container = (name: string) => {
    const found = containers.get(name);
    if (found === undefined) throw new Error(`the pod has no container ${name}`);
    return found;
  };
  const volumes = new Map([...facts.volumes].map(([name, { path }]) => [name, path]));
  return {
    ...{ pod: facts.pod, volumes, container, stop },
    probe(name, kind) {
      const own = [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name);
      const handler = kind === 'postStart' || kind === 'preStop' ? own?.lifecycle?.[kind] : own?.[kind];
      if (handler === undefined) throw new Error(`${name} has no ${kind}`);
      return handle(facts, container(name), handler);
    },
    get: (port, path) => get(facts, port, path),
    end: () => endAll(facts, containers),
  };
}
