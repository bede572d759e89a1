import type { InjectionDefaults } from '../../core/injection/contract.ts';
import { mirrorPlace, parseMirrors } from '../../runtime/registry/mirrors.ts';
import { caConfigMapName } from './controllers/ca-config-map.ts';
import type { OperatorConfig } from './settings.ts';

/** What pods are given that do not say otherwise. @throws SvcError (exit 78) when the mirrors cannot be read */
export function injectionDefaults(config: OperatorConfig): InjectionDefaults {
  const mirrors = parseMirrors(config.registryMirrors ?? []);
  return {
    vaultAddress: config.vaultAddress?.href.replace(/\/$/, ''),
    wrapperImage: config.wrapperImage,
    proxyImage: config.proxyImage,
    imageMirrors: new Map([...mirrors].map(([registry, urls]) => [registry, urls.map(mirrorPlace)])),
    wrapperDelivery: config.wrapperDelivery,
    caConfigMap: config.caFile === undefined ? undefined : caConfigMapName,
    agentSocket: config.agentSocket,
    tokenAudience: config.tokenAudience,
    development: config.development,
  };
}
