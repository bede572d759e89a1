import { accessSync, constants } from 'node:fs';
import type { Rule } from '../../core/settings/rules.ts';
import { unencrypted } from '../../core/vault/address.ts';
import type { ResolvedVaultSettings } from './settings.ts';

type Config = ResolvedVaultSettings;

/** What `VAULT_AUTH_METHOD` is when it is not set. */
export function authMethod(config: Config): 'kubernetes' | 'token' {
  if (config.vaultAuthMethod !== undefined) return config.vaultAuthMethod;
  return hasToken(config) ? 'token' : 'kubernetes';
}

/** What the vault settings need from each other, and that the files they name can be read. */
export const vaultRules: readonly Rule<Config>[] = [
  (config) => unencrypted('VAULT_ADDR', config.vaultAddr),
  (config) => unencrypted('SVC_BROKER_ADDR', config.brokerAddr),
  (config) =>
    authMethod(config) === 'kubernetes' && config.vaultAuthRole === undefined
      ? 'VAULT_AUTH_ROLE: required for kubernetes auth; for token auth give VAULT_TOKEN or VAULT_TOKEN_FILE'
      : undefined,
  (config) =>
    config.vaultAuthMethod === 'token' && !hasToken(config)
      ? 'VAULT_TOKEN or VAULT_TOKEN_FILE: required, because VAULT_AUTH_METHOD is token'
      : undefined,
  (config) =>
    companion('SVC_BROKER_TLS_KEY', config.brokerTlsKey, 'SVC_BROKER_TLS_CERT', config.brokerTlsCert),
  (config) =>
    companion('SVC_BROKER_TLS_CERT', config.brokerTlsCert, 'SVC_BROKER_TLS_KEY', config.brokerTlsKey),
  (config) => readable('VAULT_TOKEN_FILE', config.vaultTokenFile),
  (config) =>
    authMethod(config) === 'kubernetes'
      ? readable('SVC_SA_TOKEN_PATH', config.serviceAccountTokenPath)
      : undefined,
  (config) => readable('VAULT_CACERT', config.vaultCaCert),
  (config) => readable('VAULT_CAPATH', config.vaultCaPath),
  (config) => readable('SVC_BROKER_TLS_CERT', config.brokerTlsCert),
  (config) => readable('SVC_BROKER_TLS_KEY', config.brokerTlsKey),
  (config) => readable('SVC_BROKER_TLS_CA', config.brokerTlsCa),
];

function hasToken(config: Config): boolean {
  return config.vaultToken !== undefined || config.vaultTokenFile !== undefined;
}

function companion(name: string, value: unknown, otherName: string, other: unknown): string | undefined {
  return value === undefined && other !== undefined
    ? `${name}: required, because ${otherName} is set`
    : undefined;
}

function readable(variable: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    accessSync(file, constants.R_OK);
    return undefined;
  } catch (error) {
    return `${variable}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}
