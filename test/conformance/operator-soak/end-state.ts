import type { Kubernetes } from '../../support/kubernetes.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind are picked apart freely
type Any = any;

/** What the operator keeps, as the API server has it. */
export interface EndState {
  /** What is not as it has to be, by name. */
  readonly wrong: readonly string[];
  /** Statuses, labels and policies as text, by their names: what a new leader must find nothing to change in. */
  readonly kept: ReadonlyMap<string, string>;
  /** How many have a ServiceConfig. */
  readonly namespaces: number;
}

export async function endStateOf(kubernetes: Kubernetes): Promise<EndState> {
  const list = async (path: string): Promise<Any[]> => (await kubernetes.must('GET', path)).items;
  const namespaces = (await list('/api/v1/namespaces')).filter(({ status }) => status.phase === 'Active');
  const pods = await list('/api/v1/pods');
  const configs = await list('/apis/svc.io/v1alpha1/serviceconfigs');
  const policies = await list('/apis/networking.k8s.io/v1/networkpolicies');
  const names = new Set(namespaces.map(({ metadata }) => metadata.name));
  const alive = ({ metadata }: Any) => names.has(metadata.namespace);
  const wrong = [
    ...configs.filter(alive).flatMap((config) => wrongStatus(config, pods)),
    ...namespaces.flatMap((namespace) => wrongNamespace(namespace, pods, configs, policies)),
  ];
  const kept = [
    ...configs.filter(alive).map((config) => [`ServiceConfig ${nameOf(config)}`, config.status]),
    ...policies.filter(alive).map((policy) => [`NetworkPolicy ${nameOf(policy)}`, policy.spec]),
    ...namespaces.map(({ metadata }) => [`Namespace ${metadata.name}`, metadata.labels]),
  ];
  return {
    wrong,
    kept: new Map(kept.map(([name, value]) => [name, JSON.stringify(value)])),
    namespaces: new Set(configs.filter(alive).map(({ metadata }) => metadata.namespace)).size,
  };
}

const nameOf = ({ metadata: { namespace, name } }: Any) => `${namespace}/${name}`;
const isProtected = ({ metadata }: Any) => metadata.labels?.['svc/protected'] === 'true';

function wrongStatus(config: Any, pods: readonly Any[]): string[] {
  const { metadata, spec, status = {} } = config;
  const matched = pods.filter(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      pod.metadata.labels?.app === spec.selector.matchLabels.app,
  );
  const ready = status.conditions?.find(({ type }: Any) => type === 'Ready')?.status;
  const facts = { generation: status.observedGeneration, matched: status.matchedPods, ready };
  const wanted = { generation: metadata.generation, matched: matched.length, ready: 'True' };
  const protectedPods = matched.filter(isProtected).length;
  if (JSON.stringify(facts) === JSON.stringify(wanted) && status.protectedPods === protectedPods) return [];
  return [`ServiceConfig ${nameOf(config)}: ${JSON.stringify(status)}, not ${JSON.stringify(wanted)}`];
}

function wrongNamespace(
  { metadata: { name, labels } }: Any,
  pods: readonly Any[],
  configs: readonly Any[],
  policies: readonly Any[],
): string[] {
  const inIt = ({ metadata }: Any) => metadata.namespace === name;
  const hasProtected = pods.filter(inIt).some(isProtected);
  const hasPolicy = policies.filter(inIt).some(({ metadata }) => metadata.name === `svc-egress-${name}`);
  const isLabelled = labels['svc/protected'] === 'true';
  return [
    ...(hasProtected && !hasPolicy ? [`Namespace ${name}: no egress policy`] : []),
    ...(configs.some(inIt) && !isLabelled ? [`Namespace ${name}: no label`] : []),
    ...(isLabelled && !configs.some(inIt) && !hasProtected ? [`Namespace ${name}: a label too much`] : []),
  ];
}
