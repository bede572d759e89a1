import { formatBlock, isTooWide, parseBlock } from './block.ts';
import type { EgressFacts } from './contract.ts';
import { type EndpointGrants, endpointGrants } from './endpoint-grants.ts';
import type { Grant } from './grants.ts';

type Warn = (text: string) => void;

export type Extra = EgressFacts['extra'][number];

/** What a person has named beside the usual destinations. */
export function extraGrants(extra: Extra, warn: Warn): EndpointGrants {
  const { host, cidr, service, addresses = [], port = 443, protocol = 'TCP' } = extra;
  if (cidr !== undefined) return { grants: blockGrants(extra, cidr, warn), addresses: [] };
  if (host === undefined) return { grants: [], addresses: [] };
  const endpoint =
    service === undefined
      ? ({ kind: 'external', host, addresses, port } as const)
      : ({ kind: 'service', host, service, port } as const);
  return endpointGrants(endpoint, 'Further destination', protocol, warn);
}

function blockGrants({ port = 443, protocol = 'TCP' }: Extra, cidr: string, warn: Warn): Grant[] {
  const block = usableBlock(cidr, 'Further destination', warn);
  return block === undefined ? [] : [{ peer: { ipBlock: { cidr: block } }, protocol, port }];
}

/** Blocks that were declared for stores whose names turn, on the ports of those that are outside of the cluster. */
export function storeBlockGrants(
  { stores, storeBlocks = [] }: Pick<EgressFacts, 'stores' | 'storeBlocks'>,
  warn: Warn,
): Grant[] {
  const outside = stores.filter(({ kind }) => kind === 'external');
  const ports = [...new Set(outside.map(({ port }) => port))];
  const blocks = storeBlocks.flatMap((cidr) => usableBlock(cidr, 'Block of the object store', warn) ?? []);
  return blocks.flatMap((cidr) =>
    ports.map((port) => ({ peer: { ipBlock: { cidr } }, protocol: 'TCP' as const, port })),
  );
}

function usableBlock(cidr: string, what: string, warn: Warn): string | undefined {
  const block = parseBlock(cidr);
  if (block !== undefined && !isTooWide(block)) return formatBlock(block);
  warn(
    block === undefined
      ? `${what} ${cidr} is no block of addresses such as 192.0.2.0/24; it is left out`
      : `${what} ${cidr} is too wide; it is left out: name blocks of /8 (IPv6: /7) or smaller`,
  );
  return undefined;
}
