import { formatBlock, isTooWide, parseBlock } from './block.ts';
import type { EgressFacts } from './contract.ts';
import { type EndpointGrants, endpointGrants } from './endpoint-grants.ts';

export type Extra = EgressFacts['extra'][number];

/** What a person has named beside the usual destinations. */
export function extraGrants(extra: Extra, warn: (text: string) => void): EndpointGrants {
  const { host, cidr, service, addresses = [], port = 443, protocol = 'TCP' } = extra;
  if (cidr !== undefined) return { grants: blockGrants(extra, cidr, warn), addresses: [] };
  if (host === undefined) return { grants: [], addresses: [] };
  const endpoint =
    service === undefined
      ? ({ kind: 'external', host, addresses, port } as const)
      : ({ kind: 'service', host, service, port } as const);
  return endpointGrants(endpoint, 'Further destination', protocol, warn);
}

function blockGrants({ port = 443, protocol = 'TCP' }: Extra, cidr: string, warn: (text: string) => void) {
  const block = parseBlock(cidr);
  if (block === undefined) {
    warn(`Further destination ${cidr} is no block of addresses such as 192.0.2.0/24; it is left out`);
    return [];
  }
  if (isTooWide(block)) {
    warn(`Further destination ${cidr} is too wide; it is left out: name blocks of /8 (IPv6: /7) or smaller`);
    return [];
  }
  return [{ peer: { ipBlock: { cidr: formatBlock(block) } }, protocol, port }];
}
