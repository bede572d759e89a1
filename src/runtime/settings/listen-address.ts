import { isIPv4, isIPv6 } from 'node:net';
import { invalidValue, list, type Parser } from './setting.ts';

/** Address of a listener. Without a host it listens on every interface; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

const expects = '[host]:port such as 127.0.0.1:8190, [::1]:8190 or :8190';
const hostName = /^(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/;

/** `127.0.0.1:8190`, `localhost:8190`, `[::1]:8190`, `:8190`, `127.0.0.1:0`. */
export function listenAddress(): Parser<ListenAddress> {
  return { expects, parse };
}

/** Like `listenAddress`, but an empty text turns the listener off (undefined). */
export function listenAddressOrOff(): Parser<ListenAddress | undefined> {
  return {
    expects: `${expects}, or empty for none`,
    admitsEmpty: true,
    parse: (text) => (text === '' ? undefined : parse(text)),
  };
}

/** Names and IPv4 addresses without a port, in lower case, separated by commas. */
export function hostNames(): Parser<readonly string[]> {
  const each = 'a host name without a port';
  return list({
    expects: each,
    parse: (text) => (isHost(text) ? text.toLowerCase() : invalidValue(each)),
  });
}

/** `host:port` with IPv6 in brackets; `:port` without a host. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${port}`;
}

function parse(text: string): ListenAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return invalidValue(expects);
  const [, ipv6, name] = match;
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { host: ipv6, port } : invalidValue(expects);
  if (name === undefined || name === '') return { host: undefined, port };
  return isHost(name) ? { host: name, port } : invalidValue(expects);
}

/**
 * A last label of digits makes it an IPv4 address or invalid: `127.0.0.300` and `127.1` must not be looked up as names.
 */
function isHost(name: string): boolean {
  return /(^|\.)\d+$/.test(name) ? isIPv4(name) : hostName.test(name);
}
