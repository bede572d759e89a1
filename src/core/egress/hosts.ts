import { canonicalAddress } from './address.ts';
import { byText } from './grants.ts';

/** Names outside of the cluster, and the addresses that a policy allows because of each. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** `name=address,address` items, sorted, separated by a space: the value of the annotation. */
export function formatHosts(hosts: Hosts): string {
  return [...hosts]
    .sort(([one], [other]) => byText(one, other))
    .map(([host, addresses]) => `${host}=${[...new Set(addresses)].sort(byText).join()}`)
    .join(' ');
}

/** Reads it back, for as far as it can be read: somebody else may have changed it. */
export function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const item of text.split(' ')) {
    const [, host, list = ''] = /^([^=\s]+)=([^=\s]*)$/.exec(item) ?? [];
    if (host === undefined) continue;
    const addresses = list.split(',').flatMap((address) => canonicalAddress(address) ?? []);
    hosts.set(host, addresses);
  }
  return hosts;
}
