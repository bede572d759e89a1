import type { EgressDestination, ServiceConfigSpec } from '../custom-resources/resources.ts';
import {
  credentialServers,
  credentialSource,
  type InjectedCredentials,
} from '../injection/mutate/proxy-container.ts';
import {
  type CreatedConfig,
  containersOf,
  proxyName,
  selectServiceConfig,
  wrappedContainers,
} from '../injection/protected-pods.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';
import { regionalEndpoint, regionName, unnamedRegion } from '../s3/aws-endpoint.ts';
import { contains, parseBlock } from './address.ts';

/** What the pods of a namespace connect to; URLs as they were given. */
export interface Wanted {
  readonly vaults: ReadonlySet<string>;
  readonly stores: ReadonlySet<string>;
  /** Blocks of addresses of the stores, as they were given. */
  readonly storeBlocks: readonly string[];
  readonly extra: readonly EgressDestination[];
  /** What they need besides that and is not allowed, a sentence each. */
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

/** Of the for future pods under it. */
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

/** Credential servers that the proxies of a namespace need although its policies do not allow them. */
function credentialWarnings(
  urls: readonly PodUrls[],
  extra: readonly EgressDestination[],
): readonly string[] {
  return Object.entries(credentialServers).flatMap(([source, { name, address, port }]) => {
    const isAsked = urls.some(({ credentials }) => credentials === source);
    return isAsked && !extra.some((each) => allows(each, address, port))
      ? [
          `Proxies have no credentials for the object store but those of ${name}, which is not allowed: give them credentials or a web identity, or name ${address}/32 port ${port} in spec.egress of a ServiceConfig`,
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

/** What a pod connects to; URLs as they were given. */
interface PodUrls {
  readonly vaults: readonly string[];
  readonly stores: readonly string[];
  /** How its proxy obtains credentials; undefined: it has no proxy, or that is unknown. */
  readonly credentials?: InjectedCredentials;
}

/**
 * As the webhook has written it into the containers of a pod: nobody changes that while it runs, whoever may annotate it.
 * Undefined: no container starts under the wrapper with a secrets server of its own.
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

/** As the proxy itself finds it. */
function storeOf(proxy: Container): readonly string[] {
  const upstream = textOf(proxy, 'SVC_PROXY_UPSTREAM');
  if (upstream !== undefined) return [upstream];
  const region = textOf(proxy, 'AWS_REGION') ?? textOf(proxy, 'AWS_DEFAULT_REGION') ?? unnamedRegion;
  // with any other value the proxy does not start
  return regionName.test(region) ? [regionalEndpoint('s3', region).href] : [];
}

/** The AWS SDK reads AWS_REGION alone here. */
function tokenService(proxy: Container): string {
  const region = textOf(proxy, 'AWS_REGION') ?? unnamedRegion;
  return regionalEndpoint('sts', regionName.test(region) ? region : unnamedRegion).href;
}

function valuesOf(containers: readonly Container[], name: AddressVariable): string[] {
  return containers.flatMap((container) => textOf(container, name) ?? []);
}

/** Of several with one name the last counts. */
function textOf({ env = [] }: Container, name: AddressVariable): string | undefined {
  return env.findLast((one) => one.name === name)?.value || undefined;
}

/**
 * Variables of wrapped containers and of the proxy whose values say where they connect to. A pod that runs cannot change
 * them, unlike its annotations. None of them is a secret.
 */
export const addressVariables = [
  'AWS_DEFAULT_REGION',
  'AWS_REGION',
  'SVC_PROXY_UPSTREAM',
  'VAULT_ADDR',
] as const;

type AddressVariable = (typeof addressVariables)[number];
