import { wrappedContainers } from '../cluster/protected.ts';
import { containersOf } from '../injection/mutate/chosen.ts';
import { proxyName } from '../injection/mutate/names.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';
import { regionalEndpoint, regionName, unnamedRegion } from '../s3/aws-endpoint.ts';
import { type CredentialSource, credentialSource } from './credential-source.ts';
import type { AddressVariable } from './variables.ts';

/** What a pod connects to; URLs as they were given. */
export interface PodUrls {
  readonly vaults: readonly string[];
  readonly stores: readonly string[];
  /** How its proxy comes by credentials; undefined: it has none, or that is not known. */
  readonly credentials?: CredentialSource;
}

/**
 * As the webhook has written it into the containers of a pod: nobody changes that while it runs, whoever may annotate it.
 * Undefined: no container starts under the wrapper with a secrets server of its own.
 */
export function writtenUrls(pod: Pod): PodUrls | undefined {
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
  // with any other text the proxy does not start
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
