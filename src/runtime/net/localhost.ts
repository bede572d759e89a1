import type { LookupFunction } from 'node:net';

/** Addresses of `localhost` where everyone has them, both ways of asking. */
const localhost: LookupFunction = (_name, { all }, callback) => {
  if (!all) return callback(null, '127.0.0.1', 4);
  return callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
};

/**
 * How to look a host's name up; undefined for the system's way. What travels in the clear goes to loopback addresses alone:
 * /etc/hosts of a container may be written by others, who would send `localhost` elsewhere.
 */
export const lookupOf = (host: string): LookupFunction | undefined =>
  host.toLowerCase() === 'localhost' ? localhost : undefined;
