import { kvPaths } from '../../keyserver/path.ts';
import { vaultSettings as requiredVaultSettings } from '../../keyserver/settings.ts';
import { transitSettings } from '../../keyserver/transit-settings.ts';
import { storeSettings } from '../../objects/upstream/store-settings.ts';
import {
  boolean,
  byteSize,
  enumeration,
  httpUrl,
  integer,
  matching,
  path,
  type Resolved,
  type Settings,
} from '../../runtime/settings/setting.ts';

/** In display order. */
export const areas = [
  'configuration',
  'secrets-server',
  'kek',
  'cluster',
  'connectivity',
  'operator',
  'agent',
  'egress',
  'proxy-store',
  'recovery',
  'host',
] as const;
export type Area = (typeof areas)[number];

/** Formats of the report. */
export const formats = ['table', 'short', 'json', 'junit', 'sarif'] as const;
export type ValidateFormat = (typeof formats)[number];

const { vaultAddr, ...vaultRest } = requiredVaultSettings;
const { required: _, ...optionalAddress } = vaultAddr;

/** The secrets server to check, and the login for it. */
export const secretsServerSettings = {
  vaultAddr: optionalAddress,
  ...vaultRest,
  ...transitSettings,
  secretPaths: {
    variable: 'SVC_SECRET_PATHS',
    flag: 'secrets',
    summary: 'KV paths that workloads read, separated by commas',
    ...kvPaths(),
  },
  identity: {
    variable: 'SVC_VALIDATE_IDENTITY',
    flag: 'identity',
    summary:
      'Whose policy the login has: that of a proxy, a wrapper, or both; unset: both if secret paths are given, else proxy',
    ...enumeration('proxy', 'wrapper', 'both'),
  },
  auditorTokenFile: {
    variable: 'SVC_VALIDATE_AUDITOR_TOKEN_FILE',
    flag: 'auditor-token-file',
    summary: 'File with a token that may read the transit key and the auth role, which workloads must not',
    ...path(),
  },
} satisfies Settings;

/** The object store to check, and the proxy in front of it. */
export const objectStoreSettings = {
  ...storeSettings,
  bucket: {
    variable: 'SVC_VALIDATE_BUCKET',
    flag: 'bucket',
    summary: 'Bucket to check, in which a canary object is written and removed again',
    ...matching(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'the name of a bucket'),
  },
  proxy: {
    variable: 'SVC_VALIDATE_PROXY',
    flag: 'proxy',
    summary: 'Address of a running proxy, for the canary object',
    ...httpUrl('http://127.0.0.1:8190'),
  },
  proxyAccessKeyId: {
    variable: 'SVC_PROXY_ACCESS_KEY_ID',
    summary: "Access key with which the proxy's callers sign",
    ...matching(/^[\w.+=@-]{3,128}$/, 'an access key id'),
  },
  proxySecretAccessKey: {
    variable: 'SVC_PROXY_SECRET_ACCESS_KEY',
    summary: 'Secret of that access key',
    secret: true,
    ...matching(/^[\x21-\x7e]{8,256}$/, '8 to 256 printable characters without blanks'),
  },
} satisfies Settings;

const maxKeyLength = 1024;

/** What `--rehearse-recovery` opens, and how much of it. */
export const rehearsalSettings = {
  recoveryKey: {
    variable: 'SVC_PROXY_RECOVERY_KEY_FILE',
    flag: 'recovery-key',
    summary: 'File of recovery keys, as age-keygen writes it, for --rehearse-recovery',
    ...path('a file'),
  },
  prefix: {
    variable: 'SVC_VALIDATE_PREFIX',
    flag: 'prefix',
    summary: 'Rehearse with objects whose keys begin with this',
    ...matching(new RegExp(`^[^\\0]{1,${maxKeyLength}}$`), `1 to ${maxKeyLength} characters`),
  },
  sample: {
    variable: 'SVC_VALIDATE_SAMPLE',
    flag: 'sample',
    summary: 'Objects to rehearse with, chosen at random; the oldest, the newest and the largest are added',
    fallback: '100',
    ...integer(1, 1_000),
  },
  readWhole: {
    variable: 'SVC_VALIDATE_READ_WHOLE',
    flag: 'read-whole',
    summary: 'Largest object of the sample that is read to its end',
    fallback: '16MiB',
    ...byteSize(0, 5 * 1024 ** 4),
  },
  stateBucket: {
    variable: 'SVC_PROXY_STATE_BUCKET',
    flag: 'state-bucket',
    summary: "Bucket of the proxy's helper objects, for --rehearse-recovery; unset: beside the objects",
    ...matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'a bucket name'),
  },
} satisfies Settings;

export const clusterSettings = {
  operatorNamespace: {
    variable: 'SVC_VALIDATE_OPERATOR_NAMESPACE',
    flag: 'operator-namespace',
    summary: 'Where the operator runs',
    fallback: 'svc-system',
    ...matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'the name of a namespace'),
  },
  probePods: {
    variable: 'SVC_VALIDATE_PROBE_PODS',
    flag: 'probe-pods',
    summary: 'Test from pods that are created and removed by the check',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
} satisfies Settings;

/** Flags and variables of `svc validate`. */
export const validateSettings = {
  ...secretsServerSettings,
  ...clusterSettings,
  ...objectStoreSettings,
  ...rehearsalSettings,
} satisfies Settings;

/** An invalid value counts as not given here; checks of the configuration report it. */
export type ValidateConfig = Resolved<typeof validateSettings>;
