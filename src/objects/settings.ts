import { recipientList } from '../runtime/recovery-recipients/recipient-list.ts';
import { boolean, enumeration, matching, type Settings } from '../runtime/settings/setting.ts';
import { storeSettings } from './upstream/store-settings.ts';

/** Flags and variables of the engine, for the proxy and for commands that work on its objects. */
export const objectSettings = {
  ...storeSettings,
  upstreamSigning: {
    variable: 'SVC_PROXY_UPSTREAM_SIGNING',
    flag: 'upstream-signing',
    summary: 'Whether bodies are signed; auto: only over http, as https protects them',
    fallback: 'auto',
    ...enumeration('auto', 'unsigned', 'signed'),
  },
  upstreamChecksum: {
    variable: 'SVC_PROXY_UPSTREAM_CHECKSUM',
    flag: 'upstream-checksum',
    summary: 'Trailing checksum over the ciphertext; none for stores that refuse trailers',
    fallback: 'crc32',
    ...enumeration('crc32', 'none'),
  },
  format: {
    variable: 'SVC_PROXY_FORMAT',
    flag: 'format',
    summary: 'Format of written objects; 2: in segments, for cheap range reads',
    fallback: '1',
    ...enumeration('1', '2'),
  },
  bind: {
    variable: 'SVC_PROXY_BIND',
    flag: 'bind',
    summary: 'What data keys are bound to; none allows renames behind the proxy',
    fallback: 'key',
    ...enumeration('key', 'bucket-key', 'none'),
  },
  recoveryRecipients: {
    variable: 'SVC_PROXY_RECOVERY_RECIPIENT',
    flag: 'recovery-recipient',
    summary:
      'X25519 public keys (age1…, or 32 bytes in base64), separated by commas, to which each data key is also sealed',
    ...recipientList(),
  },
  requireBound: {
    variable: 'SVC_PROXY_REQUIRE_BOUND',
    flag: 'require-bound',
    summary: 'Refuse objects whose keys are bound to nothing',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  unencryptedReads: {
    variable: 'SVC_PROXY_UNENCRYPTED_READS',
    flag: 'unencrypted-reads',
    summary: 'Objects without svc metadata: return them as stored, or refuse them',
    fallback: 'allow',
    ...enumeration('allow', 'deny'),
  },
  stateBucket: {
    variable: 'SVC_PROXY_STATE_BUCKET',
    flag: 'state-bucket',
    summary: 'Bucket for helper objects; unset: beside the objects',
    ...matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'a bucket name'),
  },
} satisfies Settings;
