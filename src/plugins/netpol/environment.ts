import { isExempt } from '../../core/cluster/protected.ts';
import { invalidConfig } from '../../core/settings/resolve.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { type ClusterAddresses, createClusterAddresses } from '../../runtime/kube/cluster-addresses.ts';
import type { NameBook } from '../../runtime/kube/cluster-addresses-names.ts';
import { readContent } from './cluster/read-content.ts';
import { namedAddresses } from './named-addresses.ts';
import { emptyContent, type NamespaceContent } from './namespace-content.ts';
import type { NetpolSettings } from './settings.ts';

/** What policies are made from: a cluster, or what was named on the command line alone. */
export interface Environment {
  /** Sorted by name. */
  readonly namespaces: ReadonlyMap<string, NamespaceContent>;
  readonly addresses: ClusterAddresses;
  readonly warnings: readonly string[];
}

const operatorNamespace = 'svc-system';

/** @throws SvcError naming what may not be read, or that the API server cannot be reached */
export async function clusterEnvironment(
  client: KubeClient,
  { namespace }: NetpolSettings,
  names: NameBook,
  signal: AbortSignal,
): Promise<Environment> {
  const { namespaces, warnings } = await readContent(client, namespace && [...new Set(namespace)], signal);
  const wanted = [...namespaces].filter(
    ([name]) => namespace !== undefined || !isExempt(name, operatorNamespace),
  );
  const addresses = createClusterAddresses({ client, names, now: () => 0 });
  return { namespaces: new Map(wanted), addresses, warnings };
}

/** @throws SvcError CONFIG_INVALID unless namespaces and the secrets server are named */
export function namedEnvironment(
  { namespace, vaultAddress }: NetpolSettings,
  names: NameBook,
  noCluster: string,
): Environment {
  const mistakes = [
    ...(namespace === undefined ? [`--namespace: required, since ${noCluster}`] : []),
    ...(vaultAddress === undefined ? [`--vault-address: required, since ${noCluster}`] : []),
  ];
  if (mistakes.length > 0) throw invalidConfig(mistakes);
  const sorted = [...new Set(namespace)].sort();
  return {
    namespaces: new Map(sorted.map((name) => [name, emptyContent])),
    addresses: namedAddresses(names),
    warnings: [],
  };
}
