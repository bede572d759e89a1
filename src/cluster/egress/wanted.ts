import { regionalEndpoint, regionName, unnamedRegion } from '../../runtime/net/aws-endpoint.ts';
import {
  credentialServers,
  credentialSource,
  type InjectedCredentials,
} from '../injection/mutate/proxy-container.ts';
import {
  type ConfigSelection,
  containersOf,
  proxyName,
  wrappedContainers,
} from '../injection/protected-pods.ts';
import type { Container, Pod } from '../kube/pod.ts';
import type { EgressDestination, ServiceConfigSpec } from '../resources/resources.ts';
import { contains, parseBlock } from './address.ts';

/** Destinations of a namespace's pods; URLs as given. */
export interface Wanted {
  readonly vaults: ReadonlySet<string>;
  readonly stores: ReadonlySet<string>;
  /** Address blocks of the stores, as given. */
  readonly storeBlocks: readonly string[];
  readonly extra: readonly EgressDestination[];
  /** Destinations that pods need besides these but that are not allowed, a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * The URLs that the webhook wrote into a pod or, for a pod without the wrapper, those of its ServiceConfig or the
 * default. Annotations of existing pods do not count: they can be changed, and a policy is for all pods of its
 * namespace.
 */
export function urlsOfPod(pod: Pod, configOf: ConfigSelection, vaultAddress: string | undefined): PodUrls {
  return writtenUrls(pod) ?? urlsOfSpec(configOf(pod)?.spec ?? {}, vaultAddress);
}

/** URLs for future pods under a ServiceConfig, or under none. */
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

/** @param configs all ServiceConfigs of the namespace */
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

/** Credential servers that the namespace's proxies need although its policies do not allow them. */
function credentialWarnings(
  urls: readonly PodUrls[],
  extra: readonly EgressDestination[],
): readonly string[] {
  return Object.entries(credentialServers).flatMap(([source, { name, address, port }]) => {
    const isAsked = urls.some(({ credentials }) => credentials === source);
    return isAsked && !extra.some((each) => allows(each, address, port))
      ? [
          `Proxies get credentials for the object store only from ${name}, which the policy does not allow: give them credentials or a web identity, or name ${address}/32 port ${port} in spec.egress of a ServiceConfig`,
        ]
      : [];
  });
}

function allows({ cidr, port = 443, protocol = 'TCP' }: EgressDestination, address: string, wanted: number) {
  const block = parseBlock(cidr ?? '');
  const single = parseBlock(`${address}/32`);
  return (
    port === wanted &&
    protocol === 'TCP' &&
    block !== undefined &&
    single !== undefined &&
    contains(block, single)
  );
}

/** Destinations of a pod; URLs as given. */
interface PodUrls {
  readonly vaults: readonly string[];
  readonly stores: readonly string[];
  /** How the pod's proxy obtains credentials; undefined without a proxy, or if unknown. */
  readonly credentials?: InjectedCredentials;
}

/**
 * The URLs that the webhook wrote into a pod's containers, which cannot be changed while the pod runs, unlike
 * annotations. Undefined if no wrapped container names a secrets server.
 */
function writtenUrls(pod: Pod): PodUrls | undefined {
  const proxy = containersOf(pod).find(({ name }) => name === proxyName);
  const wrapped = wrappedContainers(pod);
  const vaults = valuesOf(wrapped, 'VAULT_ADDR');
  if (vaults.length === 0) return undefined;
  if (proxy === undefined) return { vaults, stores: [] };
  const credentials = credentialSource(new Set(proxy.env?.map(({ name }) => name)));
  return {
    vaults: [...vaults, ...valuesOf([proxy], 'VAULT_ADDR')],
    stores: [...storeOf(proxy), ...(credentials === 'role' ? [tokenService(proxy)] : [])],
    credentials,
  };
}

/** The store, determined as the proxy itself does. */
function storeOf(proxy: Container): readonly string[] {
  const upstream = textOf(proxy, 'SVC_PROXY_UPSTREAM');
  if (upstream !== undefined) return [upstream];
  const region = textOf(proxy, 'AWS_REGION') ?? textOf(proxy, 'AWS_DEFAULT_REGION') ?? unnamedRegion;
  // with any other value the proxy does not start
  return regionName.test(region) ? [regionalEndpoint('s3', region).href] : [];
}

/** Here the AWS SDK only reads AWS_REGION. */
function tokenService(proxy: Container): string {
  const region = textOf(proxy, 'AWS_REGION') ?? unnamedRegion;
  return regionalEndpoint('sts', regionName.test(region) ? region : unnamedRegion).href;
}

function valuesOf(containers: readonly Container[], name: AddressVariable): string[] {
  return containers.flatMap((container) => textOf(container, name) ?? []);
}

/** If a name repeats, the last one counts. */
function textOf({ env = [] }: Container, name: AddressVariable): string | undefined {
  return env.findLast((one) => one.name === name)?.value || undefined;
}

/**
 * Variables of wrapped containers and the proxy whose values say where they connect to. Unlike annotations, they cannot
 * change in a running pod. None of them is a secret.
 */
export const addressVariables = [
  'AWS_DEFAULT_REGION',
  'AWS_REGION',
  'SVC_PROXY_UPSTREAM',
  'VAULT_ADDR',
] as const;

type AddressVariable = (typeof addressVariables)[number];
