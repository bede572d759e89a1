import type { KnownPod } from '../../../core/cluster/known.ts';
import { isOver } from '../../../core/cluster/protected.ts';
import { copierName, proxyName } from '../../../core/injection/mutate/names.ts';
import type { Container } from '../../../core/kubernetes/pod.ts';
import { isWrapped } from '../../../core/score/containers.ts';
import { createIntern } from '../../../runtime/cluster/intern.ts';
import { type PodObject, projectPod } from '../../../runtime/cluster/project-pod.ts';
import type { CheckContext } from '../contract.ts';
import { shared } from '../shared.ts';
import { listObjects } from './read.ts';

/** A pod that has not ended, with what is asked of it. */
export interface SeenPod extends KnownPod {
  readonly node: string | undefined;
  /** Of its own network. */
  readonly address: string | undefined;
  readonly running: boolean;
  /** The kubelet says that it is. */
  readonly ready: boolean;
  /** Numbers of declared ports by their names. */
  readonly ports: Readonly<Record<string, number>>;
  /** Where its wrappers tell how they are, and where its proxy does. */
  readonly wrapperPorts: readonly number[];
  readonly proxyPort: number | undefined;
  /** Image of the container that brings the wrapper's folder. */
  readonly wrapperImage: string | undefined;
}

export type WholePod = PodObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** Those of the operator and the agents. @throws NotEvaluated */
export const ownPodsOf = shared((context) =>
  listPods(context, `/api/v1/namespaces/${context.config.operatorNamespace}/pods`, () => true),
);

/** Those that have not ended and that `isWanted` takes; nothing is kept of the others. @throws NotEvaluated */
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

/** Of a listen address in that variable. */
function portIn({ env = [] }: Container, variable: string): readonly number[] {
  const address = env.findLast(({ name }) => name === variable)?.value ?? '';
  const port = /:(\d+)$/.exec(address)?.[1];
  return port === undefined ? [] : [Number(port)];
}
