import { objectSettings } from '../../../objects/settings.ts';
import { type StoreAddress, storeOf } from '../../../objects/upstream/store-settings.ts';
import { regionName } from '../../../runtime/net/aws-endpoint.ts';
import { resolveSettings, type Sources } from '../../../runtime/settings/resolve.ts';
import {
  enumeration,
  httpUrl,
  matching,
  path,
  type Resolved,
  type Settings,
} from '../../../runtime/settings/setting.ts';
import { keyErrors, keySettings, objectsAtATime, placeSettings } from '../engine/settings.ts';

const { unencryptedReads, requireBound } = objectSettings;

/** Target bucket; unset values default to those of the source. */
const targetSettings = {
  toUpstream: {
    variable: 'SVC_PROXY_DECRYPT_TO_UPSTREAM',
    flag: 'to-upstream',
    summary: 'Object store of the target bucket; unset: that of the source',
    ...httpUrl('https://s3.example.eu'),
  },
  toRegion: {
    variable: 'SVC_PROXY_DECRYPT_TO_REGION',
    flag: 'to-region',
    summary: 'Region of the target; unset: that of the source',
    ...matching(regionName, 'a region such as eu-central-1'),
  },
  toProfile: {
    variable: 'SVC_PROXY_DECRYPT_TO_PROFILE',
    flag: 'to-profile',
    summary: 'AWS profile with credentials for the target; unset: those of the source',
    ...matching(/^[^\0]{1,256}$/, 'the name of a profile'),
  },
  toAccessKeyId: {
    variable: 'SVC_PROXY_DECRYPT_TO_ACCESS_KEY_ID',
    summary: 'Access key for the target, instead of a profile',
    ...matching(/^[\w.+=@-]{3,128}$/, 'an access key id'),
  },
  toSecretAccessKey: {
    variable: 'SVC_PROXY_DECRYPT_TO_SECRET_ACCESS_KEY',
    summary: 'Secret of that access key',
    secret: true,
    ...matching(/^[\x21-\x7e]{8,256}$/, '8 to 256 printable characters without blanks'),
  },
  toChecksum: {
    variable: 'SVC_PROXY_DECRYPT_TO_CHECKSUM',
    flag: 'to-checksum',
    summary: 'Trailing checksum of written objects; none for stores that refuse trailers',
    fallback: 'crc32',
    ...enumeration('crc32', 'none'),
  },
} satisfies Settings;

/** Settings for decryption with recovery keys, without a key server. */
export const recoverySettings = {
  ...placeSettings,
  unencryptedReads,
  requireBound,
  recoveryKey: {
    variable: 'SVC_PROXY_RECOVERY_KEY_FILE',
    flag: 'recovery-key',
    summary: 'File of recovery keys, as age-keygen writes it; replaces the key server',
    ...path('a file'),
  },
  ...targetSettings,
  concurrency: {
    variable: 'SVC_PROXY_DECRYPT_CONCURRENCY',
    fallback: '8',
    ...objectsAtATime,
  },
} satisfies Settings;

/** Flags and variables of `svc proxy decrypt`; those shared with the proxy have the same names and meaning. */
export const decryptSettings = { ...recoverySettings, ...keySettings } satisfies Settings;

export type RecoverySettings = Resolved<typeof recoverySettings>;
export type DecryptSettings = Resolved<typeof decryptSettings>;

type TargetSettings = Resolved<typeof targetSettings>;

/** @throws SvcError CONFIG_INVALID */
export function resolveDecryptSettings(sources: Sources): RecoverySettings | DecryptSettings {
  const { variable, flag } = recoverySettings.recoveryKey;
  if ((sources.flags?.[flag] ?? sources.env?.[variable]) !== undefined)
    return resolveSettings(recoverySettings, sources, targetErrors);
  return resolveSettings(decryptSettings, sources, (config) => [
    ...targetErrors(config),
    ...keyErrors(config),
  ]);
}

const targetErrors = ({ toProfile, toAccessKeyId, toSecretAccessKey }: TargetSettings): string[] => [
  ...((toAccessKeyId === undefined) === (toSecretAccessKey === undefined)
    ? []
    : ['SVC_PROXY_DECRYPT_TO_ACCESS_KEY_ID, SVC_PROXY_DECRYPT_TO_SECRET_ACCESS_KEY: each needs the other']),
  ...(toProfile === undefined || toAccessKeyId === undefined
    ? []
    : ['SVC_PROXY_DECRYPT_TO_PROFILE (--to-profile): not together with SVC_PROXY_DECRYPT_TO_ACCESS_KEY_ID']),
];

/** Address of the target bucket's store. */
export const targetStoreOf = (settings: RecoverySettings | DecryptSettings): StoreAddress =>
  storeOf({
    upstream: settings.toUpstream ?? settings.upstream,
    region: settings.toRegion ?? settings.region,
    defaultRegion: settings.defaultRegion,
  });
