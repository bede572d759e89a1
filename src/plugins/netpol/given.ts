import { parseAddress } from '../../core/egress/address.ts';
import type { AddressAndPort, EgressFacts } from '../../core/egress/contract.ts';
import type { Destination } from '../../core/egress/destination.ts';
import type { NameBook } from '../../runtime/kube/cluster-addresses-names.ts';
import type { NetpolSettings } from './settings.ts';

type Warn = (text: string) => void;

/** Where the API servers are that a person has named. */
export async function givenApiServers(
  { apiServer = [] }: Pick<NetpolSettings, 'apiServer'>,
  names: NameBook,
  warn: Warn,
  signal: AbortSignal,
): Promise<AddressAndPort[]> {
  const found = await Promise.all(apiServer.map((each) => addressesOf(each, names, warn, signal)));
  return found.flat();
}

async function addressesOf({ host, port }: Destination, names: NameBook, warn: Warn, signal: AbortSignal) {
  if (parseAddress(host) !== undefined) return [{ address: host, port }];
  const addresses = await names.addressesOf(host, signal);
  if (addresses.length === 0) warn(`API server ${host} has no address that is known; it cannot be reached`);
  else warn(`API server ${host} is allowed by the addresses that it has now, which can change`);
  return addresses.map((address) => ({ address, port }));
}

/** The facts with what a person has named beside them. */
export function withGiven(
  facts: EgressFacts,
  apiServers: readonly AddressAndPort[],
  dns: readonly string[] = [],
): EgressFacts {
  return {
    ...facts,
    apiServer: [...facts.apiServer, ...apiServers],
    dns: { ...facts.dns, addresses: [...facts.dns.addresses, ...dns] },
  };
}
