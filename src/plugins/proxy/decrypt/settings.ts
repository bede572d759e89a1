import { resolveSettings, type Sources } from '../../../core/settings/resolve.ts';
import { integer, path, type Resolved, type Settings } from '../../../core/settings/setting.ts';
import { transitSettings, vaultRules, vaultSettings } from '../../../runtime/vault/settings.ts';
import { proxySettings } from '../settings.ts';

const { upstream, region, defaultRegion, reservedPrefix, stateBucket, unencryptedReads, requireBound } =
  proxySettings;

/** What is to be known where recovery keys open the objects, and no key server is asked. */
export const recoverySettings = {
  upstream,
  region,
  defaultRegion,
  reservedPrefix,
  stateBucket,
  unencryptedReads,
  requireBound,
  recoveryKey: {
    variable: 'SVC_PROXY_RECOVERY_KEY_FILE',
    flag: 'recovery-key',
    summary: 'File of recovery keys, as age-keygen writes it: no key server is needed then',
    ...path('a file'),
  },
  concurrency: {
    variable: 'SVC_PROXY_DECRYPT_CONCURRENCY',
    flag: 'concurrency',
    summary: 'Objects at a time',
    fallback: '8',
    ...integer(1, 64),
  },
} satisfies Settings;

const keyServerSettings = { ...transitSettings, ...vaultSettings } satisfies Settings;

/** Flags and variables of `svc proxy decrypt`; store, key server and what is refused are said as to the proxy. */
export const decryptSettings = { ...recoverySettings, ...keyServerSettings } satisfies Settings;

export type RecoverySettings = Resolved<typeof recoverySettings>;
export type DecryptSettings = Resolved<typeof decryptSettings>;

/** @throws SvcError CONFIG_INVALID */
export function resolveDecryptSettings(sources: Sources): RecoverySettings | DecryptSettings {
  const { variable, flag } = recoverySettings.recoveryKey;
  if ((sources.flags?.[flag] ?? sources.env?.[variable]) !== undefined)
    return resolveSettings(recoverySettings, sources);
  return resolveSettings(decryptSettings, sources, (config) =>
    vaultRules.flatMap((rule) => rule(config) ?? []),
  );
}
