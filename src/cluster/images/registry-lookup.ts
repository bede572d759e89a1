import type { LookupAddress, LookupOptions } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { lookupOf } from '../../runtime/net/host-names.ts';
import { type NameResolver, systemResolver } from '../kube/name-book.ts';

export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Node tries one after another. */
const maxAddresses = 16;

/**
 * Looks up registries, which whoever creates a pod may name, at the name servers of this machine. The system's own
 * look-up takes one of two threads for as long as a name server is silent, and cannot be ended: one pod with 32 such
 * names kept all others waiting for minutes. Unlike it, this one asks for a name with a dot as it is before it tries the
 * search domains, and does not read /etc/hosts.
 */
export function createRegistryLookup(
  resolver: NameResolver = systemResolver(),
  searchDomains: readonly string[] = searchDomainsIn(readResolvConf()),
): Lookup {
  const { signal } = new AbortController();
  const find = async (host: string): Promise<LookupAddress[]> => {
    for (const name of candidates(host, searchDomains)) {
      const { addresses, failed } = await resolver(name, signal);
      if (addresses.length > 0)
        return addresses.slice(0, maxAddresses).map((address) => ({ address, family: isIP(address) }));
      if (failed) throw failure('EAI_AGAIN', `the name servers do not answer for ${host}`);
    }
    throw failure('ENOTFOUND', `${host} is not a name that the name servers know`);
  };
  return (host, options, done) => {
    const local = lookupOf(host);
    if (local !== undefined) local(host, options, done as never);
    else
      find(host).then(
        (addresses) => done(null, addresses),
        (error) => done(error, []),
      );
  };
}

/** @param host absolute if it ends with a dot */
function candidates(host: string, searchDomains: readonly string[]): readonly string[] {
  if (host.endsWith('.')) return [host];
  const searched = searchDomains.map((domain) => `${host}.${domain}`);
  return host.includes('.') ? [host, ...searched] : [...searched, host];
}

const resolvConf = '/etc/resolv.conf';

function readResolvConf(): string {
  try {
    return readFileSync(resolvConf, 'utf8');
  } catch {
    return '';
  }
}

/** The last `search` or `domain` line counts. Source: resolv.conf(5) */
export function searchDomainsIn(text: string): string[] {
  const lines = [...text.matchAll(/^(?:search|domain)[ \t]+(.*)$/gm)];
  return (lines.at(-1)?.[1] ?? '').split(/\s+/).filter((domain) => domain !== '' && domain !== '.');
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
