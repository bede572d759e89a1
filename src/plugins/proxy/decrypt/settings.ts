import { integer, path, type Resolved, type Settings } from '../../../core/settings/setting.ts';
import { transitSettings, vaultSettings } from '../../../runtime/vault/settings.ts';
import { proxySettings } from '../settings.ts';

const { upstream, region, defaultRegion, reservedPrefix, stateBucket, unencryptedReads, requireBound } =
  proxySettings;

/** Flags and variables of `svc proxy decrypt`; store, key server and what is refused are said as to the proxy. */
export const decryptSettings = {
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
  ...transitSettings,
  ...vaultSettings,
} satisfies Settings;

export type DecryptSettings = Resolved<typeof decryptSettings>;
