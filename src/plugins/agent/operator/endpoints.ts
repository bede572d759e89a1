import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import type { OperatorAddress } from './contract.ts';
import { ReportError } from './report-error.ts';

/** All IP addresses behind the name, as gRPC writes targets: a headless service has one for each replica. */
export async function endpointsOf({ host, port }: OperatorAddress): Promise<readonly string[]> {
  const addresses = isIP(host) ? [host] : await addressesOf(host);
  return addresses.map((address) =>
    isIPv6(address) ? `ipv6:[${address}]:${port}` : `ipv4:${address}:${port}`,
  );
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new ReportError('name_lookup', `the name ${host} cannot be looked up (${code})`, { cause });
  }
}
