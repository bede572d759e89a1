import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../../core/egress/wanted.ts';
import type { KnownPod, KnownServiceConfig } from '../cluster/contract.ts';

export interface NamespaceContent {
  /** Those that are protected. */
  readonly pods: Iterable<KnownPod>;
  readonly serviceConfigs: Iterable<KnownServiceConfig>;
  readonly vaultAddress: string | undefined;
}

/** The union over a namespace; undefined where neither protected pods nor ServiceConfigs are in it. */
export function wantedIn(content: NamespaceContent): Wanted | undefined {
  const { vaultAddress } = content;
  const configs = [...content.serviceConfigs];
  const pods = [...content.pods];
  if (configs.length === 0 && pods.length === 0) return undefined;
  const urls = [
    ...configs.map(({ spec }) => urlsOfSpec(spec, vaultAddress)),
    ...pods.map(({ pod }) => urlsOfPod(pod, configs, vaultAddress)),
  ];
  return unionOf(urls, configs);
}
