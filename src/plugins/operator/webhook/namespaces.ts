import { type PodSecurityLevel, podSecurityLevels } from '../../../core/injection/contract.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { ClusterView } from '../cluster/contract.ts';

type Labels = Readonly<Record<string, string>>;

interface Namespace {
  readonly metadata: { readonly labels?: Labels };
}

/**
 * Labels of a namespace; one that has just been made is asked for.
 * @throws KubeError when that fails
 */
export async function labelsOf(
  name: string,
  { cluster, client }: { readonly cluster: Pick<ClusterView, 'namespaces'>; readonly client: KubeClient },
  signal: AbortSignal,
): Promise<Labels> {
  const known = cluster.namespaces.get(name);
  if (known !== undefined) return known.labels;
  const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  const { metadata } = await client.request<Namespace>({ path, signal });
  return metadata.labels ?? {};
}

const enforceLabel = 'pod-security.kubernetes.io/enforce';

/** The level that a namespace enforces; one that says none enforces none. */
export function podSecurityOf(labels: Labels): PodSecurityLevel {
  const named = labels[enforceLabel];
  // admission takes a level that it does not know for the strictest
  return named === undefined
    ? 'privileged'
    : (podSecurityLevels.find((level) => level === named) ?? 'restricted');
}
