import { canonicalAddress } from './address.ts';
import { byText } from './grants.ts';

/** Names outside the cluster, with the addresses that a policy allows for each. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/** For how many minutes a name has not been seen to point to an address; 0 if it still does, or if that is unknown. */
export type UnseenMinutes = (host: string, address: string) => number;

/** The item with the time of writing, in minutes since 1970; no host has this name. */
const timeName = '@';

/**
 * Value of the annotation: sorted `name=address,address` items, separated by spaces. Where a name no longer points to
 * an address, it is `address~minutes`, and `@=` has the time from which these count back: a new leader would otherwise
 * keep the address for as long again.
 * @param unseen at `minute`, the minutes since 1970
 */
export function formatHosts(hosts: Hosts, minute = 0, unseen: UnseenMinutes = () => 0): string {
  let isAged = false;
  const items = [...hosts]
    .sort(([one], [other]) => byText(one, other))
    .map(([host, addresses]) => {
      const aged = [...new Set(addresses)].sort(byText).map((address) => {
        const minutes = unseen(host, address);
        if (minutes > 0) isAged = true;
        return minutes > 0 ? `${address}~${minutes}` : address;
      });
      return `${host}=${aged.join()}`;
    });
  return [...(isAged ? [`${timeName}=${minute}`] : []), ...items].join(' ');
}

/** Parses as much as possible, because the annotation may have been edited. */
export function parseHosts(text: string): Map<string, string[]> {
  return new Map([...parseSights(text).hosts].map(([host, addresses]) => [host, [...addresses.keys()]]));
}

export interface Sights {
  /** When the annotation was written, in minutes since 1970; undefined if every name pointed to all its addresses. */
  readonly minute: number | undefined;
  /** By host and address: minutes before `minute` in which the name was last seen to point there. */
  readonly hosts: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export function parseSights(text: string): Sights {
  const hosts = new Map<string, Map<string, number>>();
  let minute: number | undefined;
  for (const item of text.split(' ')) {
    const [, host, list = ''] = /^([^=\s]+)=([^=\s]*)$/.exec(item) ?? [];
    if (host === timeName && /^\d{1,10}$/.test(list)) minute = Number(list);
    if (host === undefined || host === timeName) continue;
    hosts.set(
      host,
      new Map(
        list.split(',').flatMap((each) => {
          const [, address = each, minutes = '0'] = /^(.+)~(\d{1,6})$/.exec(each) ?? [];
          const canonical = canonicalAddress(address);
          return canonical === undefined ? [] : [[canonical, Number(minutes)] as const];
        }),
      ),
    );
  }
  return { minute, hosts };
}

/** A downtime counts so long at most: after a weekend without an operator, names keep what they had. */
const maxDowntime = 12 * 60;

/** For how many minutes addresses have not been seen at `minute`, as the annotation says. */
export function unseenSince({ minute: written, hosts }: Sights, minute: number): UnseenMinutes {
  const passed = written === undefined ? 0 : Math.min(Math.max(0, minute - written), maxDowntime);
  return (host, address) => passed + (hosts.get(host)?.get(address) ?? 0);
}

/** A name that still points to its addresses has its annotation written again only so often. */
const maxOverstated = 6 * 60;
/** Only what somebody else wrote says less than is so. */
const maxUnderstated = 5;

/** Whether the annotation need not be written again: it has these addresses, and nearly the times. */
export function isNoted(text: string, hosts: Hosts, minute: number, unseen: UnseenMinutes): boolean {
  if (formatHosts(parseHosts(text)) !== formatHosts(hosts)) return false;
  const sights = parseSights(text);
  const notedUnseen = unseenSince(sights, minute);
  // without a time, a new leader takes all addresses for those that the name points to now
  const understated = sights.minute === undefined ? 0 : maxUnderstated;
  return [...hosts].every(([host, addresses]) =>
    addresses.every((address) => {
      const overstated = notedUnseen(host, address) - unseen(host, address);
      return overstated <= maxOverstated && -overstated <= understated;
    }),
  );
}
