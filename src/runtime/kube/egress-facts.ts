import type { EgressFacts, Endpoint } from '../../core/egress/contract.ts';
import { destinationOf } from '../../core/egress/destination.ts';
import type { Wanted } from '../../core/egress/wanted.ts';
import type { ClusterAddresses } from './cluster-addresses.ts';

const atOnce = 16;

/** @throws KubeError when the API server fails: a policy is not made from half of the facts */
export async function gatherFacts(
  namespace: string,
  wanted: Wanted,
  addresses: ClusterAddresses,
  signal: AbortSignal,
): Promise<EgressFacts> {
  const endpoints = (urls: ReadonlySet<string>): Promise<Endpoint[]> => {
    // what is no URL is refused where it was said
    const destinations = [...urls].flatMap((url) => destinationOf(url) ?? []);
    return inTurn(destinations, (to) => addresses.endpointOf(to, namespace, signal));
  };
  return {
    namespace,
    vaults: await endpoints(wanted.vaults),
    stores: await endpoints(wanted.stores),
    storeBlocks: wanted.storeBlocks,
    apiServer: await addresses.apiServer(signal),
    dns: await addresses.dns(signal),
    extra: await inTurn(wanted.extra, (each) => addresses.extraOf(each, namespace, signal)),
    warnings: wanted.warnings,
  };
}

/** A few at once: a name server that does not answer holds up a few only. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    done.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  }
  return done;
}
