import fc from 'fast-check';
import type { EgressEndpoint, EgressFacts, ServiceFacts } from '../../../src/cluster/egress/contract.ts';
import type { Connection, PolicyPod } from '../../support/network-policy.ts';

/** A cluster, what its facts are, and what its protected pods are meant to reach. */
export interface Shape {
  readonly facts: EgressFacts;
  readonly pods: readonly PolicyPod[];
  /** Of pods without and with the proxy. */
  readonly main: Expected;
  readonly store: Expected;
}

type Expected = (connection: Connection) => boolean;

const namespaces = ['apps', 'vault', 'kube-system', 'other'];
const names = ['http', 'dns'];
const portNumber = fc.constantFrom(53, 80, 443, 5353, 6443, 8200, 8443);
const ipv4 = fc
  .tuple(fc.constantFrom('10.0', '192.168', '198.51'), fc.nat(3), fc.integer({ min: 1, max: 6 }))
  .map(([net, c, d]) => `${net}.${c}.${d}`);
const ipv6 = fc
  .tuple(fc.constantFrom('2001:db8', 'fd00:1'), fc.nat(3), fc.integer({ min: 1, max: 6 }))
  .map(([net, c, d]) => `${net}::${c}:${d}`);

function addressIn(families: Families): fc.Arbitrary<string> {
  if (families === 'ipv4') return ipv4;
  return families === 'ipv6' ? ipv6 : fc.oneof(ipv4, ipv6);
}

type Families = 'ipv4' | 'ipv6' | 'dual';

const labels = fc.dictionary(fc.constantFrom('app', 'k8s-app', 'tier'), fc.constantFrom('a', 'b'), {
  maxKeys: 3,
});

function podIn(families: Families): fc.Arbitrary<PolicyPod> {
  const port = fc.tuple(fc.constantFrom(...names), fc.constantFrom('TCP', 'UDP'), portNumber);
  return fc.record({
    namespace: fc.constantFrom(...namespaces),
    labels,
    ips: fc.uniqueArray(addressIn(families), { minLength: 1, maxLength: 2 }),
    named: fc
      .array(port, { maxLength: 3 })
      .map((list) => Object.fromEntries(list.map(([n, p, v]) => [`${n}/${p}`, v]))),
  });
}

function serviceIn(families: Families): fc.Arbitrary<ServiceFacts> {
  return fc.record({
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom('vault', 'store', 'dns'),
    clusterIPs: fc.uniqueArray(addressIn(families), { maxLength: 2 }),
    selector: labels,
    targetPort: fc.oneof(portNumber, fc.constantFrom(...names)),
    port: portNumber,
    endpoints: fc.array(fc.record({ address: addressIn(families), port: portNumber }), { maxLength: 3 }),
  });
}

function endpointIn(families: Families): fc.Arbitrary<EgressEndpoint> {
  const addresses = fc.array(addressIn(families), { maxLength: 4 });
  const host = fc.constantFrom('vault.example.com', 'store.example.org', 'a.example');
  return fc.oneof(
    fc.record({ kind: fc.constant('external' as const), host, addresses, port: portNumber }),
    serviceIn(families).map((service) => ({
      kind: 'service' as const,
      host: 'in.cluster',
      service,
      port: service.port,
    })),
  );
}

function extraIn(families: Families): fc.Arbitrary<EgressFacts['extra'][number]> {
  const protocol = fc.constantFrom('TCP' as const, 'UDP' as const);
  const cidr = families === 'ipv6' ? 'fd00:1::/112' : '10.0.2.0/24';
  return fc.oneof(
    fc.record({ cidr: fc.constant(cidr), port: portNumber, protocol }),
    fc.record({
      host: fc.constant('more.example'),
      addresses: fc.array(addressIn(families), { maxLength: 3 }),
      port: portNumber,
    }),
    fc.record({ host: fc.constant('more.apps'), service: serviceIn(families), protocol }).map((each) => ({
      ...each,
      port: each.service.port,
    })),
  );
}

/** Clusters with IPv4, IPv6 or both. */
export const shapes: fc.Arbitrary<Shape> = fc
  .constantFrom<Families>('ipv4', 'ipv6', 'dual')
  .chain((families) =>
    fc.record({
      pods: fc.array(podIn(families), { maxLength: 8 }),
      facts: fc.record({
        namespace: fc.constant('apps'),
        vaults: fc.array(endpointIn(families), { maxLength: 3 }),
        stores: fc.array(endpointIn(families), { maxLength: 2 }),
        apiServer: fc.array(fc.record({ address: addressIn(families), port: portNumber }), { maxLength: 3 }),
        dns: fc.record({
          service: fc.option(serviceIn(families), { nil: undefined }),
          addresses: fc.subarray(['169.254.20.10', '10.0.1.9']),
        }),
        extra: fc.array(extraIn(families), { maxLength: 2 }),
      }),
    }),
  )
  .map(({ pods, facts }) => ({
    pods,
    facts,
    main: mainOf(facts),
    store: anyOf(facts.stores.map(endpointOf)),
  }));

function mainOf(facts: EgressFacts): Expected {
  const { vaults, apiServer, dns, extra } = facts;
  const usual = { namespace: 'kube-system', name: 'kube-dns', selector: { 'k8s-app': 'kube-dns' } };
  const unknown = { ...usual, clusterIPs: [], endpoints: [], targetPort: 53, port: 53 };
  const service = dns.service ?? (dns.addresses.length === 0 ? unknown : undefined);
  return anyOf([
    ...vaults.map(endpointOf),
    ...apiServer.map(({ address, port }) => at(address, 'TCP', port)),
    ...dns.addresses.flatMap((address) => [at(address, 'TCP', 53), at(address, 'UDP', 53)]),
    ...(service === undefined ? [] : [behind(service, 'TCP'), behind(service, 'UDP')]),
    ...extra.map(extraOf),
  ]);
}

function endpointOf(endpoint: EgressEndpoint): Expected {
  if (endpoint.kind === 'service') return behind(endpoint.service, 'TCP');
  return anyOf(endpoint.addresses.map((address) => at(address, 'TCP', endpoint.port)));
}

function extraOf({
  cidr,
  addresses,
  service,
  port = 443,
  protocol = 'TCP',
}: EgressFacts['extra'][number]): Expected {
  if (service !== undefined) return behind(service, protocol);
  if (cidr === undefined) return anyOf((addresses ?? []).map((address) => at(address, protocol, port)));
  const net = cidr === '10.0.2.0/24' ? /^10\.0\.2\.\d+$/ : /^fd00:1::(0:)?\d+$/;
  return (connection) =>
    net.test(connection.ip) && connection.port === port && connection.protocol === protocol;
}

function behind(service: ServiceFacts, protocol: string): Expected {
  const { clusterIPs, selector, endpoints, namespace, port, targetPort } = service;
  const wanted = clusterIPs.length === 0 ? port : targetPort;
  const selected = Object.keys(selector).length > 0;
  const pods: Expected = ({ to, ...connection }) =>
    to !== undefined &&
    to.namespace === namespace &&
    connection.protocol === protocol &&
    Object.entries(selector).every(([key, value]) => to.labels[key] === value) &&
    connection.port === (typeof wanted === 'number' ? wanted : to.named[`${wanted}/${protocol}`]);
  return anyOf([
    ...clusterIPs.map((address) => at(address, protocol, port)),
    ...(selected ? [pods] : endpoints.map((each) => at(each.address, protocol, each.port))),
  ]);
}

function at(address: string, protocol: string, port: number): Expected {
  return (connection) =>
    connection.ip === address && connection.protocol === protocol && connection.port === port;
}

function anyOf(list: readonly Expected[]): Expected {
  return (connection) => list.some((each) => each(connection));
}
