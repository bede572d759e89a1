import type { Container, PodSpec } from '../../../core/kubernetes/pod.ts';
import type { CheckContext } from '../contract.ts';
import { shared } from '../shared.ts';
import { getObject } from './read.ts';

export const operatorName = 'svc-operator';
export const agentName = 'svc-ebpf';

/** A Deployment or DaemonSet of the chart. */
export interface Installed {
  readonly namespace: string;
  readonly name: string;
  /** Of the release, as the chart labels it. */
  readonly version: string | undefined;
  readonly image: string;
  /** Variables with a value of their own. */
  readonly env: Readonly<Record<string, string>>;
  readonly priorityClass: string | undefined;
  readonly wanted: number;
  readonly ready: number;
  /** Of the template that is asked for now. */
  readonly updated: number;
}

interface Workload {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: PodSpec & { readonly priorityClassName?: string } };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

/** Undefined where it is not installed. @throws NotEvaluated */
export const operatorOf = shared((context) =>
  installed(context, 'deployments', operatorName, ({ spec, status = {} }) => ({
    wanted: spec.replicas ?? 1,
    ready: status['readyReplicas'] ?? 0,
    updated: status['updatedReplicas'] ?? 0,
  })),
);

/** Undefined where it is not installed. @throws NotEvaluated */
export const agentsOf = shared((context) =>
  installed(context, 'daemonsets', agentName, ({ status = {} }) => ({
    wanted: status['desiredNumberScheduled'] ?? 0,
    ready: status['numberReady'] ?? 0,
    updated: status['updatedNumberScheduled'] ?? 0,
  })),
);

type Counts = Pick<Installed, 'wanted' | 'ready' | 'updated'>;

async function installed(
  context: CheckContext,
  plural: string,
  name: string,
  count: (workload: Workload) => Counts,
): Promise<Installed | undefined> {
  const namespace = context.config.operatorNamespace;
  const path = `/apis/apps/v1/namespaces/${namespace}/${plural}/${name}`;
  const workload = await getObject<Workload>(context, path);
  if (workload === undefined) return undefined;
  const { spec } = workload.spec.template;
  const [container] = spec.containers;
  return {
    ...{ namespace, name, ...count(workload) },
    version: workload.metadata.labels?.['app.kubernetes.io/version'],
    image: container?.image ?? '',
    env: valuesOf(container),
    priorityClass: spec.priorityClassName,
  };
}

function valuesOf(container: Container | undefined): Readonly<Record<string, string>> {
  const env = container?.env ?? [];
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
