import type { EgressDestination } from '../custom-resources/service-config.ts';
import { contains, parseBlock } from './block.ts';
import { credentialServers } from './credential-source.ts';
import type { PodUrls } from './pod-urls.ts';

/** Which servers for credentials the proxies of a namespace ask although its policies do not allow them. */
export function credentialWarnings(
  urls: readonly PodUrls[],
  extra: readonly EgressDestination[],
): readonly string[] {
  return Object.entries(credentialServers).flatMap(([source, { name, address, port }]) => {
    const isAsked = urls.some(({ credentials }) => credentials === source);
    return isAsked && !extra.some((each) => allows(each, address, port))
      ? [
          `Proxies have no credentials for the object store but those of ${name}, which is not allowed: give them credentials or a web identity, or name ${address}/32 port ${port} in spec.egress of a ServiceConfig`,
        ]
      : [];
  });
}

function allows({ cidr, port = 443, protocol = 'TCP' }: EgressDestination, address: string, wanted: number) {
  const block = parseBlock(cidr ?? '');
  const single = parseBlock(`${address}/32`);
  return (
    port === wanted &&
    protocol === 'TCP' &&
    block !== undefined &&
    single !== undefined &&
    contains(block, single)
  );
}
