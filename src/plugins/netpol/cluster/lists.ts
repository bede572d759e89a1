import { apiVersion } from '../../../core/custom-resources/condition.ts';
import type { ServiceConfigSpec } from '../../../core/custom-resources/service-config.ts';
import { protectedLabel } from '../../../core/kubernetes/labels.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';
import { createIntern } from '../../../runtime/cluster/intern.ts';
import { type PodObject, projectPod } from '../../../runtime/cluster/project-pod.ts';
import type { PolicyObject } from '../../../runtime/cluster/project-policy.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { listAll } from '../../../runtime/kube/list.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Selection } from '../../../runtime/kube/selection.ts';
import { unless } from '../../../runtime/kube/unless.ts';

export type ConfigObject = KubeObject & {
  readonly metadata: { readonly creationTimestamp?: string };
  readonly spec: ServiceConfigSpec;
};

/** Lists objects of a namespace, or of all of them. @throws KubeError */
export type List<T> = (
  client: KubeClient,
  namespace: string | undefined,
  signal: AbortSignal,
) => Promise<T[]>;

/** What the operator keeps of them. */
export const listProtectedPods: List<Pod> = (client, namespace, signal) => {
  const intern = createIntern();
  const list = listOf('/api/v1', 'pods', {
    labelSelector: `${protectedLabel}=true`,
    keep: (object: PodObject) => projectPod(object, intern).pod,
  });
  return list(client, namespace, signal);
};

export const listPolicies: List<PolicyObject> = listOf('/apis/networking.k8s.io/v1', 'networkpolicies', {
  keep: whole<PolicyObject>,
});

const listInstalled: List<ConfigObject> = listOf(`/apis/${apiVersion}`, 'serviceconfigs', {
  keep: whole<ConfigObject>,
});

/** None in a cluster that does not know them. */
export const listConfigs: List<ConfigObject> = async (...args) =>
  (await unless(listInstalled(...args), 'KUBE_NOT_FOUND')) ?? [];

function whole<O>(object: O): O {
  return object;
}

interface Listing<O, T> extends Omit<Selection, 'path'> {
  /** What is kept of each. */
  readonly keep: (object: O) => T;
}

function listOf<O extends KubeObject, T>(
  api: string,
  plural: string,
  { keep, ...selection }: Listing<O, T>,
): List<T> {
  return async (client, namespace, signal) => {
    const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
    const found: T[] = [];
    const path = `${api}${place}/${plural}`;
    await listAll<O>(client, { path, ...selection }, (object) => found.push(keep(object)), signal);
    return found;
  };
}
