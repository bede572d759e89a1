import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../core/egress/wanted.ts';
import type { NamespaceContent } from './namespace-content.ts';
import type { NetpolSettings } from './settings.ts';

type Given = Pick<NetpolSettings, 'vaultAddress' | 'store' | 'storeCidr' | 'allow'>;

/** What the pods of a namespace connect to, as the operator has it, and what a person has named beside that. */
export function wantedFor({ pods, configs }: NamespaceContent, given: Given): Wanted {
  const vaultAddress = given.vaultAddress?.href;
  const urls = [
    ...configs.map(({ spec }) => urlsOfSpec(spec, vaultAddress)),
    ...pods.map((pod) => urlsOfPod(pod, configs, vaultAddress)),
  ];
  // pods that are still to come
  const known = urls.length > 0 ? urls : [urlsOfSpec({}, vaultAddress)];
  const { vaults, stores, storeBlocks, extra, warnings } = unionOf(known, configs);
  return {
    vaults,
    stores: new Set([...stores, ...(given.store ?? []).map(({ href }) => href)]),
    storeBlocks: [...storeBlocks, ...(given.storeCidr ?? [])],
    extra: [...extra, ...(given.allow ?? [])],
    warnings,
  };
}
