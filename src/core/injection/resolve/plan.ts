import type { ProxyRequest } from '../../custom-resources/service-config.ts';
import type { InjectionPlan, PlannedSecret } from '../contract.ts';
import { type Asked, addressOf } from './rules.ts';
import type { Wishes } from './wishes.ts';

/** Of wishes without mistakes. */
export function planOf(asked: Asked, secrets: readonly PlannedSecret[]): InjectionPlan {
  const { wishes } = asked;
  return {
    vault: {
      address: addressOf(asked)?.value ?? '',
      role: wishes.vaultRole?.value ?? '',
      authMount: wishes.authMount?.value,
      skipVerify: wishes.skipVerify?.value ?? false,
      ...where('tokenAudience', wishes.tokenAudience?.value ?? asked.defaults.tokenAudience),
    },
    secrets,
    ...where('envMapOnly', wishes.envMapOnly?.value),
    rotation: wishes.rotation?.value,
    renewalInterval: wishes.renewalInterval?.value,
    delivery: wishes.delivery?.value,
    containers: wishes.containers && [...new Set(wishes.containers.value)],
    command: wishes.command?.value,
    proxy: proxyOf(wishes),
    serviceConfig: asked.config,
  };
}

function where<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]?: V });
}

function proxyOf(wishes: Wishes): ProxyRequest | undefined {
  if (wishes.proxyEnabled?.value !== true) return undefined;
  const members = {
    role: wishes.proxyRole?.value,
    upstream: wishes.proxyUpstream?.value,
    transitKey: wishes.proxyTransitKey?.value,
    callerKeys: wishes.proxyCallerKeys?.value,
    credentialsSecret: wishes.proxyCredentials?.value,
  };
  const set = Object.entries(members).filter(([, value]) => value !== undefined);
  return { enabled: true, ...Object.fromEntries(set) };
}
