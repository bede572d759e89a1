import type { SvcVault } from './types.ts';

/** The variables by which a component finds a key server and logs in there. */
export function vaultEnvironment(vault: SvcVault): Record<string, string | undefined> {
  const { kubernetes } = vault;
  return {
    VAULT_ADDR: vault.addr,
    VAULT_CACERT: vault.caFile,
    VAULT_AUTH_METHOD: kubernetes ? 'kubernetes' : 'token',
    VAULT_TOKEN: vault.token,
    VAULT_TOKEN_FILE: vault.tokenFile,
    VAULT_AUTH_ROLE: kubernetes?.role,
    VAULT_AUTH_MOUNT_PATH: kubernetes?.mountPath,
    SVC_SA_TOKEN_PATH: kubernetes?.jwtPath,
  };
}
