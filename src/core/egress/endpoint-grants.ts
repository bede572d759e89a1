import { isReachable, parseAddress } from './address.ts';
import type { Endpoint } from './contract.ts';
import { addressGrant, type Grant, type Protocol, usable } from './grants.ts';
import { serviceGrants } from './service-grants.ts';

/** What the policy of one endpoint is made of. */
export interface EndpointGrants {
  readonly grants: readonly Grant[];
  /** The addresses that a name stood for; none for Services and for addresses. */
  readonly addresses: readonly string[];
}

/** @param what it is, such as `Secrets server`, for warnings */
export function endpointGrants(
  endpoint: Endpoint,
  what: string,
  protocol: Protocol,
  warn: (text: string) => void,
): EndpointGrants {
  if (endpoint.kind === 'service') {
    return { grants: serviceGrants(endpoint.service, protocol, warn), addresses: [] };
  }
  const literal = literalOf(endpoint.host);
  const found = usable(literal === undefined ? endpoint.addresses : [literal], isReachable, (address) =>
    warn(
      `${what} ${endpoint.host}: ${address} is no address that a server elsewhere can have; it is left out`,
    ),
  );
  const grants = found.map((address) => addressGrant(address, protocol, endpoint.port));
  if (literal !== undefined) return { grants, addresses: [] };
  if (grants.length === 0)
    warn(`${what} ${endpoint.host} has no address that is known; it cannot be reached`);
  else warn(`${what} ${endpoint.host} is allowed by the addresses that it has now, which can change`);
  return { grants, addresses: found.map(String) };
}

/** The address that a host of a URL is, if it is no name. */
function literalOf(host: string): string | undefined {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1'))?.toString();
}
