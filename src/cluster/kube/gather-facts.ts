import { concurrently } from '../../runtime/lifecycle/wait.ts';
import { type Destination, destinationOf } from '../egress/address.ts';
import { type EgressEndpoint, type EgressFacts, maxExtra, type ServiceFacts } from '../egress/contract.ts';
import type { Wanted } from '../egress/wanted.ts';
import type { EgressDestination } from '../resources/resources.ts';
import { type ClusterAddresses, maxEndpoints } from './cluster-addresses.ts';
import type { Patience } from './name-book.ts';

/** So that a silent name server delays only some of the names. */
const atOnce = 16;
/** Servers of one kind in a namespace. Who creates pods there names them, and may own the names and their addresses. */
const maxDestinations = 256;
const tooManyAddresses =
  'The names that the pods use have too many addresses; some are left out of the policy: use fewer names, or blocks (cidr)';

/**
 * Addresses of the destinations of a namespace, each as often as it has ports: what its policies are made from. Who
 * creates pods there may own the names, and name each on a thousand ports.
 */
const maxGrants = 8_192;
const tooManyGrants = `The destinations of the pods have more than ${maxGrants} addresses and ports; some are left out of the policy: use fewer names and ports, or blocks (cidr)`;

/**
 * @param patienceMs for how long name servers are waited for; facts about the others are as known from before. Default:
 *   until all have answered
 * @throws KubeError if the API server fails, since no policy must be made from incomplete facts
 */
export async function gatherFacts(
  namespace: string,
  wanted: Wanted,
  addresses: ClusterAddresses,
  signal: AbortSignal,
  patienceMs?: number,
): Promise<EgressFacts> {
  if (patienceMs === undefined) return gather(namespace, wanted, addresses, signal);
  const over = Promise.withResolvers<void>();
  const patience = { isOver: false, over: over.promise };
  const timer = setTimeout(() => {
    patience.isOver = true;
    over.resolve();
  }, patienceMs);
  try {
    return await gather(namespace, wanted, addresses, signal, patience);
  } finally {
    clearTimeout(timer);
  }
}

async function gather(
  namespace: string,
  wanted: Wanted,
  addresses: ClusterAddresses,
  signal: AbortSignal,
  patience?: Patience,
): Promise<EgressFacts> {
  const leftOut = new Set<string>();
  let grants = 0;
  /** What there is room for; what there is none for stays without addresses, which allows nothing. */
  const within = (found: readonly string[]): readonly string[] => {
    grants += found.length;
    if (grants <= maxGrants) return found;
    grants -= found.length;
    leftOut.add(tooManyGrants);
    return [];
  };
  const ofService = (service: ServiceFacts): ServiceFacts => {
    const { endpoints } = service;
    if (endpoints.length === maxEndpoints)
      leftOut.add(
        `Service ${service.namespace}/${service.name} may have more than ${maxEndpoints} endpoints; others are left out of the policy`,
      );
    return within(endpoints.map(({ address }) => address)).length === 0
      ? { ...service, endpoints: [] }
      : service;
  };
  const endpointOf = async (to: Destination): Promise<EgressEndpoint> => {
    const found = await addresses.endpointOf(to, namespace, signal, { patience });
    return found.kind === 'service'
      ? { ...found, service: ofService(found.service) }
      : { ...found, addresses: within(found.addresses) };
  };
  const extraOf = async (each: EgressDestination): Promise<EgressFacts['extra'][number]> => {
    const found = await addresses.extraOf(each, namespace, signal, { patience });
    return {
      ...found,
      ...(found.service && { service: ofService(found.service) }),
      ...(found.addresses && { addresses: within(found.addresses) }),
    };
  };
  const endpoints = (what: string, urls: ReadonlySet<string>): Promise<EgressEndpoint[]> => {
    // invalid URLs are reported where they were given
    const destinations = [...urls].flatMap((url) => destinationOf(url) ?? []);
    if (destinations.length > maxDestinations)
      leftOut.add(
        `The pods use ${destinations.length} ${what}; all but ${maxDestinations} are left out of the policy`,
      );
    return concurrently(destinations.slice(0, maxDestinations), atOnce, endpointOf);
  };
  const extra = wanted.extra.slice(0, maxExtra);
  if (extra.length < wanted.extra.length)
    leftOut.add(
      `The ServiceConfigs have ${wanted.extra.length} egress destinations; all but ${maxExtra} are left out of the policy`,
    );
  const facts = {
    namespace,
    vaults: await endpoints('secrets servers', wanted.vaults),
    stores: await endpoints('object stores', wanted.stores),
    storeBlocks: wanted.storeBlocks,
    apiServer: await addresses.apiServer(signal),
    dns: await addresses.dns(signal),
    extra: await concurrently(extra, atOnce, extraOf),
  };
  if (addresses.isFull(namespace)) leftOut.add(tooManyAddresses);
  return { ...facts, warnings: [...wanted.warnings, ...leftOut] };
}
