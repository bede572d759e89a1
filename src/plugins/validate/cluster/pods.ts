import {
  asksForWrapper,
  copierName,
  isOver,
  isWrapped,
  proxyName,
  selectServiceConfig,
} from '../../../cluster/injection/protected-pods.ts';
import { givenAnnotations, optsOut } from '../../../cluster/injection/resolve/annotations.ts';
import type { KnownPod, KnownServiceConfig } from '../../../cluster/kube/known-objects.ts';
import { isLabelled } from '../../../cluster/kube/labels.ts';
import type { Container, Pod } from '../../../cluster/kube/pod.ts';
import { createIntern, type PodObject, projectPod } from '../../../cluster/kube/project-objects.ts';
import { type CheckContext, shared } from '../check.ts';
import { listObjects, namespacesOf, serviceConfigsOf } from './read.ts';

/** A pod that has not ended, with the facts that checks use. */
export interface SeenPod extends KnownPod {
  readonly node: string | undefined;
  /** In the pod network. */
  readonly address: string | undefined;
  readonly running: boolean;
  /** As reported by the kubelet. */
  readonly ready: boolean;
  /** Numbers of declared ports by name. */
  readonly ports: Readonly<Record<string, number>>;
  /** Health ports of its wrappers and, below, of its proxy. */
  readonly wrapperPorts: readonly number[];
  readonly proxyPort: number | undefined;
  /** Image of the container that brings the wrapper's folder. */
  readonly wrapperImage: string | undefined;
}

export type WholePod = PodObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** Pods of the operator and the agents. @throws NotEvaluated */
export const ownPodsOf = shared((context) =>
  listPods(context, `/api/v1/namespaces/${context.config.operatorNamespace}/pods`, () => true),
);

/** Pods that have not ended and that `isWanted` accepts; nothing of the others is kept. @throws NotEvaluated */
export async function listPods(
  context: CheckContext,
  path: string,
  isWanted: (pod: WholePod) => boolean,
): Promise<readonly SeenPod[]> {
  const intern = createIntern();
  const keep = (pod: WholePod) => (isOver(pod) || !isWanted(pod) ? undefined : seen(pod, intern));
  return (await listObjects(context, { path, keep })) ?? [];
}

function seen(pod: WholePod, intern: ReturnType<typeof createIntern>): SeenPod {
  const { containers, initContainers = [] } = pod.spec;
  const all = [...initContainers, ...containers];
  const proxy = all.find(({ name }) => name === proxyName);
  const copier = initContainers.find(({ name }) => name === copierName);
  return {
    ...projectPod(pod, intern),
    node: pod.spec.nodeName,
    address: pod.status?.podIP,
    running: pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined,
    ready: pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
    ...intern({ ports: portsOf(containers) }),
    wrapperPorts: containers
      .filter((one) => isWrapped(one, pod))
      .flatMap((one) => portIn(one, 'HEALTH_ADDR')),
    proxyPort: proxy && portIn(proxy, 'SVC_PROXY_HEALTH')[0],
    wrapperImage:
      copier?.image ?? pod.spec.volumes?.find(({ name }) => name === copierName)?.image?.reference,
  };
}

function portsOf(containers: readonly Container[]): Readonly<Record<string, number>> {
  const named = containers.flatMap(({ ports = [] }) => ports);
  return Object.fromEntries(
    named.flatMap(({ name, containerPort }) => (name ? [[name, containerPort]] : [])),
  );
}

/** The port of the listen address in a variable. */
function portIn({ env = [] }: Container, variable: string): readonly number[] {
  const address = env.findLast(({ name }) => name === variable)?.value ?? '';
  const port = /:(\d+)$/.exec(address)?.[1];
  return port === undefined ? [] : [Number(port)];
}

/** Pods in namespaces that the webhook reviews: those that ask for protection, and those that have it. */
export interface ProtectedPods {
  /** Pods whose annotations, or a ServiceConfig, ask for protection. */
  readonly asking: readonly SeenPod[];
  /** Pods with the label of protected pods. */
  readonly labelled: readonly SeenPod[];
}

/** Keeps only these pods, because they may be few of a cluster's pods. @throws NotEvaluated */
export const protectedPodsOf = shared(async (context): Promise<ProtectedPods> => {
  const [namespaces, configs] = await Promise.all([namespacesOf(context), serviceConfigsOf(context)]);
  const looked = new Set(namespaces.map(({ name }) => name));
  const configsIn = Map.groupBy(configs ?? [], ({ namespace }) => namespace);
  const isAsking = (pod: Pod, namespace: string) => asks(pod, configsIn.get(namespace) ?? []);
  const isWanted = (pod: WholePod) => {
    const { namespace = '', labels } = pod.metadata;
    return looked.has(namespace) && (isLabelled(labels) || isAsking(pod, namespace));
  };
  const pods = await listPods(context, '/api/v1/pods', isWanted);
  return {
    asking: pods.filter(({ pod, namespace }) => isAsking(pod, namespace)),
    labelled: pods.filter(({ pod }) => isLabelled(pod.metadata.labels)),
  };
});

function asks(pod: Pod, configs: readonly KnownServiceConfig[]): boolean {
  if (optsOut(givenAnnotations(pod))) return false;
  return asksForWrapper(pod) || selectServiceConfig(pod, configs) !== undefined;
}
