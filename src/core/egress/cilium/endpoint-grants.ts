import { isReachable, parseAddress } from '../address.ts';
import type { Endpoint } from '../contract.ts';
import { endpointGrants } from '../endpoint-grants.ts';
import { type Extra, extraGrants } from '../extra-grants.ts';
import type { Protocol } from '../grants.ts';
import { serviceOfHost } from '../service-host.ts';
import { asCilium, type CiliumGrant } from './grants.ts';

type Warn = (text: string) => void;

/** A name stays a name: Cilium follows it wherever it points. */
export function ciliumEndpoint(
  endpoint: Endpoint,
  what: string,
  protocol: Protocol,
  warn: Warn,
): CiliumGrant[] {
  const { host, kind, port } = endpoint;
  if (kind === 'external' && !isAddress(host)) return named(host, what, { protocol, port }, warn);
  return endpointGrants(endpoint, what, protocol, warn).grants.map(asCilium);
}

export function ciliumExtra(extra: Extra, warn: Warn): CiliumGrant[] {
  const { host, service, port = 443, protocol = 'TCP' } = extra;
  if (host !== undefined && service === undefined && !isAddress(host)) {
    return named(host, 'Further destination', { protocol, port }, warn);
  }
  return extraGrants(extra, warn).grants.map(asCilium);
}

function named(
  host: string,
  what: string,
  on: Pick<CiliumGrant, 'protocol' | 'port'>,
  warn: Warn,
): CiliumGrant[] {
  if (isNameElsewhere(host)) return [{ kind: 'toFQDNs', peer: { matchName: host }, ...on }];
  warn(
    `${what} ${host} is no name that is known outside of the cluster, and no Service; it cannot be reached`,
  );
  return [];
}

/** Names of the cluster are its own to answer: one that is no Service now is nothing. */
function isNameElsewhere(host: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) && serviceOfHost(host, '')?.certain !== true;
}

function isAddress(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

/** The entity is the API server wherever it is; of the facts, only the ports are of use. */
export function ciliumApiServer(
  servers: readonly { readonly address: string; readonly port: number }[],
  warn: Warn,
): CiliumGrant[] {
  if (servers.length === 0) warn('No address of the API server is known; it cannot be reached');
  return servers
    .filter(({ address }) => {
      const found = parseAddress(address);
      return found !== undefined && isReachable(found);
    })
    .map(({ port }) => ({ kind: 'toEntities', peer: 'kube-apiserver', protocol: 'TCP', port }));
}
