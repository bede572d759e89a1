import { isReachable } from './address.ts';
import type { Peer, ServiceFacts } from './contract.ts';
import { addressGrant, type Grant, type Protocol, usable } from './grants.ts';
import { namespaceName } from './names.ts';

/**
 * What reaches a Service of the cluster on one of its ports: its own addresses, and what stands behind them, since
 * whether addresses are translated before a policy looks at them is not defined.
 */
export function serviceGrants(
  service: ServiceFacts,
  protocol: Protocol,
  warn: (text: string) => void,
): Grant[] {
  const refuse = (address: string) =>
    warn(`${nameOf(service)}: ${address} is no address that a server can have; it is left out`);
  const own = usable(service.clusterIPs, isReachable, refuse);
  return [
    ...own.map((address) => addressGrant(address, protocol, service.port)),
    ...behind(service, own.length === 0, protocol, refuse, warn),
  ];
}

function behind(
  service: ServiceFacts,
  headless: boolean,
  protocol: Protocol,
  refuse: (address: string) => void,
  warn: (text: string) => void,
): Grant[] {
  const peer = podsOf(service);
  // a client of a headless Service connects to its pods itself, on the port that it was told
  if (peer !== undefined) return [{ peer, protocol, port: headless ? service.port : service.targetPort }];
  if (service.endpoints.length === 0) {
    warn(`${nameOf(service)} has neither a selector nor endpoints; what stands behind it is not allowed`);
  }
  return service.endpoints.flatMap(({ address, port }) =>
    usable([address], isReachable, refuse).map((found) => addressGrant(found, protocol, port)),
  );
}

/** Undefined without a selector: one that selects everything would be wider than the Service. */
function podsOf({ namespace, selector }: ServiceFacts): Peer | undefined {
  if (Object.keys(selector).length === 0) return undefined;
  return {
    namespaceSelector: { matchLabels: { [namespaceName]: namespace } },
    podSelector: { matchLabels: selector },
  };
}

function nameOf({ namespace, name }: ServiceFacts): string {
  return `Service ${namespace}/${name}`;
}
