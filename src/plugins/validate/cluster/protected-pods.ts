import type { KnownServiceConfig } from '../../../core/cluster/known.ts';
import { givenAnnotations, optsOut } from '../../../core/injection/resolve/given-annotations.ts';
import { selectServiceConfig } from '../../../core/injection/resolve/select-service-config.ts';
import { isLabelled } from '../../../core/kubernetes/labels.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';
import { asksForWrapper } from '../../../core/score/containers.ts';
import { shared } from '../shared.ts';
import { namespacesOf, serviceConfigsOf } from './objects.ts';
import { listPods, type SeenPod, type WholePod } from './pods.ts';

/** Pods of namespaces that the webhook looks at, those that are to be protected and those that are. */
export interface ProtectedPods {
  /** Their annotations or a ServiceConfig ask for it. */
  readonly asking: readonly SeenPod[];
  /** They carry the label. */
  readonly labelled: readonly SeenPod[];
}

/** Of a cluster's pods these may be few: nothing is kept of the others. @throws NotEvaluated */
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
