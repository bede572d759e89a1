import { isIP, type LookupFunction } from 'node:net';

/** The host of a URL without the brackets of an IPv6 address. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const loopback = '127.0.0.1';

const localhost: LookupFunction = (_name, { all }, callback) =>
  all ? callback(null, [{ address: loopback, family: 4 }]) : callback(null, loopback, 4);

/**
 * Lookup function for a host; undefined for the system's. Unencrypted traffic must only go to loopback addresses, but
 * others may be able to write a container's /etc/hosts and redirect `localhost`. It is resolved to one loopback address
 * only, since others could listen on the second one while the server is up.
 */
export const lookupOf = (host: string): LookupFunction | undefined =>
  withoutDot(host.toLowerCase()) === 'localhost' ? localhost : undefined;

/** What a TLS client names: no address, and no dot at the end (RFC 6066), which most servers refuse. */
export const serverNameOf = (host: string): string => (isIP(host) === 0 ? withoutDot(host) : '');

const withoutDot = (host: string): string => host.replace(/\.$/, '');
