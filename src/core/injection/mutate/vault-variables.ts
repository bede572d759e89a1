import type { EnvironmentVariable } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { literal } from './references.ts';

/** A variable, its value protected from the kubelet's expansion; none where there is no value. */
export const variable = (name: string, value: string | undefined): readonly EnvironmentVariable[] =>
  value === undefined ? [] : [{ name, value: literal(value) }];

/** How wrapper and proxy reach the secrets server. Each is set, so that nothing weaker from elsewhere counts. */
export function vaultVariables({ vault }: InjectionPlan, role: string): readonly EnvironmentVariable[] {
  return [
    ...variable('VAULT_ADDR', vault.address),
    ...variable('VAULT_AUTH_METHOD', 'kubernetes'),
    ...variable('VAULT_AUTH_ROLE', role),
    ...variable('VAULT_AUTH_MOUNT_PATH', vault.authMount),
    ...variable('VAULT_SKIP_VERIFY', String(vault.skipVerify)),
  ];
}
