import { contains, destinationOf, parseAddress, parseBlock } from '../egress/address.ts';

/**
 * The proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name for a server, as kubectl reads them
 * (golang.org/x/net/http/httpproxy); Node's own reading knows neither blocks nor subdomains.
 */
export function environmentProxy(
  server: URL,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const forHttps = env['https_proxy'] || env['HTTPS_PROXY'];
  const proxy = server.protocol === 'https:' ? forHttps : env['http_proxy'] || env['HTTP_PROXY'];
  if (!proxy || isDirect(server, env['no_proxy'] || env['NO_PROXY'] || '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Loopback is never behind a proxy. */
function isDirect(server: URL, exempt: string): boolean {
  const destination = destinationOf(server.href);
  const host = withoutBrackets(destination?.host ?? '');
  if (host === 'localhost' || parseAddress(host)?.range() === 'loopback') return true;
  const entries = exempt.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => isExempt(entry, host, String(destination?.port)));
}

function isExempt(entry: string, host: string, port: string): boolean {
  if (entry === '' || entry === '*') return entry === '*';
  const address = parseAddress(host);
  const block = parseBlock(entry);
  if (block !== undefined)
    return address !== undefined && contains(block, { address, prefix: address.toByteArray().length * 8 });
  const [, ported = entry, only = port] = parseAddress(entry) ? [] : (/^(.+):(\d+)$/.exec(entry) ?? []);
  const name = withoutBrackets(ported);
  if (only !== port) return false;
  if (address !== undefined) return parseAddress(name)?.toString() === address.toString();
  return host === name || host.endsWith(name.replace(/^(\*?\.)?/, '.'));
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');
