import { canonicalAddress } from '../../core/egress/address.ts';
import type { Destination } from '../../core/egress/destination.ts';
import { boolean, enumeration, list, matching, mistake, type Parser } from '../../core/settings/parsers.ts';
import type { Resolved, Settings } from '../../core/settings/setting.ts';
import { httpUrl } from '../../core/settings/url.ts';
import { block, destination } from './parse/destination.ts';
import { hostOf } from './parse/host.ts';
import { splitPort } from './parse/split-port.ts';

const expects = 'host:port such as 192.0.2.1:6443, [2001:db8::1]:6443 or kubernetes.example.eu:443';

/** Flags and variables of `svc netpol`. What is a list here is a flag that can be repeated. */
export const netpolSettings = {
  vaultAddress: {
    variable: 'VAULT_ADDR',
    flag: 'vault-address',
    summary: 'Secrets server of pods that name none themselves; required without a cluster',
    ...httpUrl('https://vault.example.eu:8200'),
  },
  namespace: {
    variable: 'SVC_NETPOL_NAMESPACES',
    flag: 'namespace',
    summary:
      'Namespace to write policies for; unset: those of the cluster that have protected pods or ServiceConfigs',
    ...list(matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'the name of a namespace')),
  },
  apiServer: {
    variable: 'SVC_NETPOL_API_SERVERS',
    flag: 'api-server',
    summary: 'Where pods reach the API server, beside what the cluster says',
    ...list(hostAndPort()),
  },
  dns: {
    variable: 'SVC_NETPOL_DNS',
    flag: 'dns',
    summary:
      'Address of a DNS server, beside what the cluster says; nothing known: the usual pods of kube-system',
    ...list(address()),
  },
  allow: {
    variable: 'SVC_NETPOL_ALLOW',
    flag: 'allow',
    summary: 'Further destination of protected pods',
    ...list(destination()),
  },
  store: {
    variable: 'SVC_NETPOL_STORES',
    flag: 'store',
    summary: 'Object store of pods with the proxy, beside what they name themselves',
    ...list(httpUrl('https://s3.example.eu')),
  },
  storeCidr: {
    variable: 'SVC_NETPOL_STORE_CIDRS',
    flag: 'store-cidr',
    summary: 'Block that addresses of the object store are in, for one whose name points to ever other ones',
    ...list(block()),
  },
  flavor: {
    variable: 'SVC_NETPOL_FLAVOR',
    flag: 'flavor',
    summary: 'Kind of policy; cilium follows names that change their address',
    fallback: 'kubernetes',
    ...enumeration('kubernetes', 'cilium'),
  },
  noCluster: {
    variable: 'SVC_NETPOL_NO_CLUSTER',
    flag: 'no-cluster',
    summary: 'Ask no cluster, even where a kubeconfig names one',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
} satisfies Settings;

export type NetpolSettings = Resolved<typeof netpolSettings>;

/** An IPv4 or IPv6 address, in its shortest form. */
export function address(): Parser<string> {
  const expects = 'an address such as 10.96.0.10 or fd00::a';
  return { expects, parse: (text) => canonicalAddress(text) ?? mistake(expects) };
}

export function hostAndPort(): Parser<Destination> {
  return { expects, parse: (text) => parse(text) ?? mistake(expects) };
}

function parse(text: string): Destination | undefined {
  const { host: given = '', port } = splitPort(text) ?? {};
  const host = hostOf(given);
  return host === undefined || port === undefined ? undefined : { host, port };
}
