import { areTooWide, formatBlock, isTooWide, parseBlock } from './block.ts';
import type { EgressFacts } from './contract.ts';
import { type EndpointGrants, endpointGrants } from './endpoint-grants.ts';
import type { Grant } from './grants.ts';

type Warn = (text: string) => void;

export type Extra = EgressFacts['extra'][number];

/**
 * What is left of the further destinations: blocks that are nearly every address together are left out, all of them,
 * since which one is meant is not known. `areTooWide` has the bound.
 */
export function narrowExtras(extra: readonly Extra[], warn: Warn): readonly Extra[] {
  const blocks = extra.flatMap(({ cidr }) => cidr ?? []);
  if (!areTogetherTooWide(blocks, 'further destinations', warn)) return extra;
  return extra.filter(({ cidr }) => cidr === undefined);
}

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
  if (areTogetherTooWide(storeBlocks, 'object store', warn)) return [];
  const blocks = storeBlocks.flatMap((cidr) => usableBlock(cidr, 'Block of the object store', warn) ?? []);
  return blocks.flatMap((cidr) =>
    ports.map((port) => ({ peer: { ipBlock: { cidr } }, protocol: 'TCP' as const, port })),
  );
}

/** Those that are too wide by themselves are left out anyway. */
function areTogetherTooWide(cidrs: readonly string[], what: string, warn: Warn): boolean {
  const narrow = cidrs.flatMap((cidr) => parseBlock(cidr) ?? []).filter((block) => !isTooWide(block));
  const tooWide = areTooWide(narrow);
  if (tooWide)
    warn(
      `The blocks of the ${what} are too wide together, more than a quarter of all addresses; they are left out: name smaller ones`,
    );
  return tooWide;
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
