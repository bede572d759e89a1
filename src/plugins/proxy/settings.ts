import { vaultSettings } from '../../keyserver/settings.ts';
import { transitSettings } from '../../keyserver/transit-settings.ts';
import { objectSettings } from '../../objects/settings.ts';
import { hostNames, listenAddress, listenAddressOrOff } from '../../runtime/settings/listen-address.ts';
import {
  boolean,
  byteSize,
  duration,
  enumeration,
  integer,
  matching,
  path,
  type Resolved,
  type Settings,
} from '../../runtime/settings/setting.ts';

/** Flags and variables of `svc run proxy`. */
export const proxySettings = {
  listen: {
    variable: 'SVC_PROXY_LISTEN',
    flag: 'listen',
    summary: 'Where callers reach the proxy',
    fallback: '127.0.0.1:8190',
    ...listenAddress(),
  },
  tlsCert: {
    variable: 'SVC_PROXY_TLS_CERT',
    flag: 'tls-cert',
    summary: 'PEM file of a certificate for serving callers over TLS; reloaded when it changes',
    ...path('a file'),
  },
  tlsKey: {
    variable: 'SVC_PROXY_TLS_KEY',
    flag: 'tls-key',
    summary: 'PEM file of its private key',
    ...path('a file'),
  },
  health: {
    variable: 'SVC_PROXY_HEALTH',
    flag: 'health',
    summary: 'Where /healthz, /readyz and /metrics are served; empty turns them off',
    fallback: ':8191',
    ...listenAddressOrOff(),
  },
  upstream: objectSettings.upstream,
  upstreamSigning: objectSettings.upstreamSigning,
  upstreamChecksum: objectSettings.upstreamChecksum,
  accessKeyId: {
    variable: 'SVC_PROXY_ACCESS_KEY_ID',
    summary: 'Access key that callers sign with; unset: callers are not authenticated',
    ...matching(/^[\w.+=@-]{3,128}$/, 'an access key id'),
  },
  secretAccessKey: {
    variable: 'SVC_PROXY_SECRET_ACCESS_KEY',
    summary: 'Secret of that access key',
    secret: true,
    ...matching(/^[\x21-\x7e]{8,256}$/, '8 to 256 printable characters without blanks'),
  },
  hosts: {
    variable: 'SVC_PROXY_HOSTS',
    flag: 'hosts',
    summary: 'Host names, besides localhost, that unauthenticated callers may use',
    ...hostNames(),
  },
  allowAnonymous: {
    variable: 'SVC_PROXY_ALLOW_ANONYMOUS',
    flag: 'allow-anonymous',
    summary: 'Serve unauthenticated callers on an address beyond loopback',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  accessLog: {
    variable: 'SVC_PROXY_ACCESS_LOG',
    flag: 'access-log',
    summary: 'Log a line for each request, with object keys plain or hashed',
    fallback: 'off',
    ...enumeration('off', 'plain', 'hashed'),
  },
  accessLogSecret: {
    variable: 'SVC_PROXY_ACCESS_LOG_SECRET',
    summary: 'Secret of the HMAC of object keys in a hashed access log',
    secret: true,
    ...matching(/^[\x21-\x7e]{16,256}$/, '16 to 256 printable characters without blanks'),
  },
  ...transitSettings,
  joinKeyCalls: {
    variable: 'SVC_PROXY_JOIN_KEY_CALLS',
    flag: 'join-key-calls',
    summary: 'Batch waiting calls to the key server; false: one call per object',
    fallback: 'true',
    ...boolean(),
  },
  vaultTimeout: {
    variable: 'SVC_PROXY_VAULT_TIMEOUT',
    flag: 'vault-timeout',
    summary: 'How long a request waits for the key server, retries included',
    fallback: '5s',
    ...duration(250, 60_000),
  },
  format: objectSettings.format,
  bind: objectSettings.bind,
  recoveryRecipients: objectSettings.recoveryRecipients,
  requireBound: objectSettings.requireBound,
  unencryptedReads: objectSettings.unencryptedReads,
  strict: {
    variable: 'SVC_PROXY_STRICT',
    flag: 'strict',
    summary: 'Send no byte of an object, of any size, before its whole body is authenticated',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  spoolDir: {
    variable: 'SVC_PROXY_SPOOL_DIR',
    flag: 'spool-dir',
    summary: 'Folder for ciphertext on disk; unset: the folder for temporary files',
    ...path('a folder'),
  },
  spoolSize: {
    variable: 'SVC_PROXY_SPOOL_SIZE',
    flag: 'spool-size',
    summary: 'Maximum ciphertext on disk at a time, per process',
    fallback: '8GiB',
    ...byteSize(),
  },
  verifyBuffer: {
    variable: 'SVC_PROXY_VERIFY_BUFFER',
    flag: 'verify-buffer',
    summary: 'Largest object or part that is authenticated in memory before its first byte leaves',
    fallback: '16MiB',
    ...byteSize(64 * 1024, 1024 ** 3),
  },
  verifyBudget: {
    variable: 'SVC_PROXY_VERIFY_BUDGET',
    flag: 'verify-budget',
    summary: 'Memory for that authentication, for all requests of a process',
    fallback: '32MiB',
    ...byteSize(64 * 1024, 64 * 1024 ** 3),
  },
  envelopeHeaders: {
    variable: 'SVC_PROXY_ENVELOPE_HEADERS',
    flag: 'envelope-headers',
    summary: 'Metadata of svc in responses: shown with that of callers, or hidden from tools that copy it',
    fallback: 'shown',
    ...enumeration('shown', 'hidden'),
  },
  listSizes: {
    variable: 'SVC_PROXY_LIST_SIZES',
    flag: 'list-sizes',
    summary:
      'Sizes in listings; plaintext needs a request per object the first time, none where all are encrypted in one format',
    fallback: 'plaintext',
    ...enumeration('plaintext', 'format-1', 'format-2', 'stored'),
  },
  reservedPrefix: objectSettings.reservedPrefix,
  stateBucket: objectSettings.stateBucket,
  inlineLimit: {
    variable: 'SVC_PROXY_INLINE_LIMIT',
    flag: 'inline-limit',
    summary: 'Largest multipart object whose part list goes into its own metadata; 0 turns that off',
    fallback: '64MiB',
    ...byteSize(0, 5 * 1024 ** 3),
  },
  workers: {
    variable: 'SVC_PROXY_WORKERS',
    flag: 'workers',
    summary: 'Processes that serve; 0 is one per core',
    fallback: '1',
    ...integer(0, 256),
  },
  region: objectSettings.region,
  defaultRegion: objectSettings.defaultRegion,
  ...vaultSettings,
} satisfies Settings;

export type ProxySettings = typeof proxySettings;
export type ResolvedProxySettings = Resolved<ProxySettings>;
