import type { LookupFunction } from 'node:net';

const address = '127.0.0.1';

const localhost: LookupFunction = (_name, { all }, callback) =>
  all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);

/**
 * How to look a host's name up; undefined for the system's way. What travels in the clear goes to loopback addresses alone:
 * /etc/hosts of a container may be written by others, who would send `localhost` elsewhere. Of the two loopback addresses
 * it is one: at the other, others may listen while the server is up.
 */
export const lookupOf = (host: string): LookupFunction | undefined =>
  host.toLowerCase() === 'localhost' ? localhost : undefined;
