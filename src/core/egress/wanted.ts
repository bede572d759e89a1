import type { EgressDestination, ServiceConfigSpec } from '../custom-resources/service-config.ts';
import { type CreatedConfig, selectServiceConfig } from '../injection/resolve/select-service-config.ts';
import type { Pod } from '../kubernetes/pod.ts';
import { credentialWarnings } from './credential-warnings.ts';
import { type PodUrls, writtenUrls } from './pod-urls.ts';

/** What the pods of a namespace connect to; URLs as they were given. */
export interface Wanted {
  readonly vaults: ReadonlySet<string>;
  readonly stores: ReadonlySet<string>;
  /** Blocks of addresses of the stores, as they were given. */
  readonly storeBlocks: readonly string[];
  readonly extra: readonly EgressDestination[];
  /** What they need beside that and is not allowed, a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * What the webhook has written into a pod; of one without the wrapper, what its ServiceConfig says, or the default.
 * Annotations of pods that exist do not count: they can be changed, and a policy is for all pods of its namespace.
 */
export function urlsOfPod(
  pod: Pod,
  configs: readonly CreatedConfig[],
  vaultAddress: string | undefined,
): PodUrls {
  return writtenUrls(pod) ?? urlsOfSpec(selectServiceConfig(pod, configs)?.spec ?? {}, vaultAddress);
}

/** Of the pods that are still to come under it. */
export function urlsOfSpec(
  { vault, proxy }: Pick<Partial<ServiceConfigSpec>, 'vault' | 'proxy'>,
  vaultAddress: string | undefined,
): PodUrls {
  const address = vault?.address ?? vaultAddress;
  const upstream = proxy?.enabled === true ? proxy.upstream : undefined;
  return {
    vaults: address === undefined ? [] : [address],
    stores: upstream === undefined ? [] : [upstream],
  };
}

/** @param configs all of the namespace */
export function unionOf(
  urls: readonly PodUrls[],
  configs: readonly { readonly spec: ServiceConfigSpec }[],
): Wanted {
  const extra = configs.flatMap(({ spec }) => spec.egress ?? []);
  return {
    vaults: new Set(urls.flatMap(({ vaults }) => vaults)),
    stores: new Set(urls.flatMap(({ stores }) => stores)),
    storeBlocks: configs.flatMap(({ spec }) => (spec.proxy?.enabled && spec.proxy.storeCIDRs) || []),
    extra,
    warnings: credentialWarnings(urls, extra),
  };
}
