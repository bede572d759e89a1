import type { ServiceConfigSpec } from '../../custom-resources/service-config.ts';
import { areTooWide, type Block, isTooWide, parseBlock } from '../../egress/block.ts';

interface Config {
  readonly name: string;
  readonly spec: ServiceConfigSpec;
}

/**
 * Blocks of a ServiceConfig that undo the egress policy, which is one for all pods of the namespace: each by itself, or
 * together with those of its other ServiceConfigs.
 */
export function egressMistakes(config: Config | undefined, all: readonly Config[]): string[] {
  const own = blocksOf(config);
  if (config === undefined || own.length === 0) return [];
  const place = `ServiceConfig ${config.name}, egress`;
  const wide = own.filter(({ block }) => isTooWide(block));
  if (wide.length > 0)
    return wide.map(
      ({ index, cidr }) =>
        `${place}[${index}].cidr: ${cidr} is nearly every address, so that the egress policy would hold nothing back; name blocks of /8 (IPv6: /7) or smaller`,
    );
  const others = all.filter(({ name }) => name !== config.name);
  const together = [config, ...others].flatMap(blocksOf).map(({ block }) => block);
  return areTooWide(together)
    ? [
        `${place}: the blocks of this namespace's ServiceConfigs are more than a quarter of all addresses together, so that the egress policy would hold little back; name smaller ones`,
      ]
    : [];
}

function blocksOf(config: Config | undefined): { index: number; cidr: string; block: Block }[] {
  return (config?.spec.egress ?? []).flatMap(({ cidr = '' }, index) => {
    const block = parseBlock(cidr);
    return block === undefined ? [] : [{ index, cidr, block }];
  });
}
