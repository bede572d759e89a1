import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { exitStatus, SvcError } from '../runtime/errors.ts';
import type { Rule } from '../runtime/settings/resolve.ts';
import {
  boolean,
  enumeration,
  httpUrl,
  matching,
  type Parser,
  path,
  type Resolved,
  type Settings,
  unencrypted,
} from '../runtime/settings/setting.ts';
import { mountPath, roleName } from './path.ts';
import { systemAuthorities } from './system-authorities.ts';

/** Configuration of the key server's client. */
export interface VaultConfig extends VaultPlace {
  readonly auth: VaultAuth;
}

/** Where the CA certificates are: what a component that runs in several processes evaluates once, for all of them. */
export type AuthorityPlaces = Pick<VaultEndpoint, 'caFiles' | 'caPath'>;

export interface VaultPlace {
  readonly endpoint: VaultEndpoint;
  readonly namespace: string | undefined;
}

/** Target of requests: the broker if there is one, else the secrets server. */
export interface VaultEndpoint {
  /** `/v1/…` is appended to its path. */
  readonly url: URL;
  /** Never true for a broker. */
  readonly skipVerify: boolean;
  /** PEM files, those of the system where none are given; empty without `caPath`: Node's root CAs. */
  readonly caFiles: readonly string[];
  readonly caPath: string | undefined;
  readonly client: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export type VaultAuth =
  | { readonly method: 'token'; readonly token: string }
  /** The file is read at each login. */
  | { readonly method: 'token-file'; readonly path: string }
  | {
      readonly method: 'kubernetes';
      readonly role: string;
      /** Without slashes at its ends: `auth/kubernetes`. */
      readonly mountPath: string;
      readonly serviceAccountTokenPath: string;
    };

const mountedCertificates = '/svc/certs';

/**
 * Converts settings that `vaultRules` has accepted.
 * @param authorities in force in an earlier process with these settings; whoever ran meanwhile may have made others
 * @throws SvcError CONFIG_INVALID if a role or token that the rules require is missing
 */
export function vaultConfig(settings: ResolvedVaultSettings, authorities?: AuthorityPlaces): VaultConfig {
  const { endpoint, namespace } = vaultPlace(settings);
  const { caFiles, caPath } = authorities ?? endpoint;
  return { endpoint: { ...endpoint, caFiles, caPath }, namespace, auth: vaultAuth(settings) };
}

/** The server's address, independent of the login. */
export function vaultPlace(settings: ResolvedVaultSettings): VaultPlace {
  return {
    endpoint: {
      ...(settings.brokerAddr ? brokerTrust(settings) : serverTrust(settings)),
      client: client(settings),
    },
    namespace: settings.vaultNamespace?.replace(/\/$/, ''),
  };
}

function brokerTrust(settings: ResolvedVaultSettings) {
  const url = settings.brokerAddr ?? settings.vaultAddr;
  if (settings.brokerTlsCa !== undefined) {
    return { url, skipVerify: false, caFiles: [settings.brokerTlsCa], caPath: undefined };
  }
  return { ...serverTrust(settings), url, skipVerify: false };
}

function serverTrust(settings: ResolvedVaultSettings) {
  const caFiles = [settings.vaultCaCert, settings.brokerTlsCa].filter((file) => file !== undefined);
  const mounted = caFiles.length === 0 && isMounted(mountedCertificates) ? mountedCertificates : undefined;
  const caPath = settings.vaultCaPath ?? mounted;
  const url = settings.vaultAddr;
  const asSystem = caFiles.length === 0 && caPath === undefined && usesTls(settings);
  return {
    url,
    skipVerify: settings.vaultSkipVerify,
    caFiles: asSystem ? systemAuthorities(process.env) : caFiles,
    caPath,
  };
}

const usesTls = ({ brokerAddr, vaultAddr }: ResolvedVaultSettings): boolean =>
  (brokerAddr ?? vaultAddr).protocol === 'https:';

/**
 * Whether anything is mounted at the folder: the wrapper's folder contains an empty one. An unreadable folder is
 * reported when it is needed.
 */
function isMounted(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return existsSync(folder);
  }
}

function client({ brokerTlsCert, brokerTlsKey }: ResolvedVaultSettings) {
  if (brokerTlsCert === undefined || brokerTlsKey === undefined) return undefined;
  return { certFile: brokerTlsCert, keyFile: brokerTlsKey };
}

/** @throws SvcError CONFIG_INVALID if a role or token that the rules require is missing */
export function vaultAuth(settings: ResolvedVaultSettings): VaultAuth {
  if (authMethod(settings) === 'kubernetes') {
    return {
      method: 'kubernetes',
      role: given(settings.vaultAuthRole, 'VAULT_AUTH_ROLE'),
      mountPath: settings.vaultAuthMountPath,
      serviceAccountTokenPath: settings.serviceAccountTokenPath,
    };
  }
  if (settings.vaultTokenFile !== undefined) return { method: 'token-file', path: settings.vaultTokenFile };
  return { method: 'token', token: given(settings.vaultToken, 'VAULT_TOKEN') };
}

function given(value: string | undefined, variable: string): string {
  if (value !== undefined) return value;
  throw new SvcError('CONFIG_INVALID', `${variable} is missing`, {
    nextStep: `Set ${variable}.`,
    exitStatus: exitStatus.config,
  });
}

/** How a component reaches the key server and logs in there; shared by proxy and wrapper. */
export const vaultSettings = {
  vaultAddr: {
    variable: 'VAULT_ADDR',
    flag: 'vault-address',
    summary: 'Address of the secrets server',
    required: true,
    ...httpUrl('https://vault.example.eu:8200'),
  },
  vaultToken: {
    variable: 'VAULT_TOKEN',
    summary: 'Token for the secrets server',
    secret: true,
    ...token(),
  },
  vaultTokenFile: {
    variable: 'VAULT_TOKEN_FILE',
    flag: 'vault-token-file',
    summary: 'File that holds the token, read again at each login; overrides VAULT_TOKEN',
    ...path(),
  },
  vaultAuthMethod: {
    variable: 'VAULT_AUTH_METHOD',
    flag: 'vault-auth-method',
    summary: 'How to log in; unset: token when a token or token file is given, else kubernetes',
    ...enumeration('kubernetes', 'token'),
  },
  vaultAuthRole: {
    variable: 'VAULT_AUTH_ROLE',
    flag: 'vault-role',
    summary: 'Role that accepts the service account',
    ...roleName(),
  },
  vaultAuthMountPath: {
    variable: 'VAULT_AUTH_MOUNT_PATH',
    flag: 'vault-auth-mount-path',
    summary: 'Where the kubernetes auth method is mounted',
    fallback: 'auth/kubernetes',
    ...mountPath('auth/'),
  },
  vaultSkipVerify: {
    variable: 'VAULT_SKIP_VERIFY',
    summary: 'Do not verify the certificate of the secrets server; for development only',
    fallback: 'false',
    ...boolean(),
  },
  vaultCaCert: {
    variable: 'VAULT_CACERT',
    flag: 'vault-ca-cert',
    summary: 'PEM file with the CA certificates of the secrets server; without any, those of the system',
    ...path(),
  },
  vaultCaPath: {
    variable: 'VAULT_CAPATH',
    flag: 'vault-ca-path',
    summary: 'Folder of such files; /svc/certs if it exists and no CA is given',
    ...path(),
  },
  vaultNamespace: {
    variable: 'VAULT_NAMESPACE',
    flag: 'vault-namespace',
    summary: 'Namespace at the secrets server',
    ...matching(/^[\w.-]+(\/[\w.-]+)*\/?$/, 'a namespace such as team/app'),
  },
  serviceAccountTokenPath: {
    variable: 'SVC_SA_TOKEN_PATH',
    summary: 'File with the service account token',
    fallback: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    ...path(),
  },
  brokerAddr: {
    variable: 'SVC_BROKER_ADDR',
    flag: 'broker-address',
    summary: 'Broker with the same API in front of the secrets server',
    ...httpUrl('https://broker.example.eu:8443'),
  },
  brokerTlsCert: {
    variable: 'SVC_BROKER_TLS_CERT',
    summary: 'Client certificate for the broker or, without a broker, for the secrets server',
    ...path(),
  },
  brokerTlsKey: {
    variable: 'SVC_BROKER_TLS_KEY',
    summary: 'Key of that certificate',
    ...path(),
  },
  brokerTlsCa: {
    variable: 'SVC_BROKER_TLS_CA',
    summary: 'PEM file with the CA certificates of the broker or, without a broker, of the secrets server',
    ...path(),
  },
} satisfies Settings;

export type VaultSettings = typeof vaultSettings;
export type ResolvedVaultSettings = Resolved<VaultSettings>;

/** Drops surrounding white space, because files and templates often add a line end. */
function token(): Parser<string> {
  const shape = matching(/^[\x21-\x7e]+$/, 'a token of printable characters without blanks');
  return { ...shape, parse: (given) => shape.parse(given.trim()) };
}

type Config = ResolvedVaultSettings;

/** The default of `VAULT_AUTH_METHOD`. */
export function authMethod(config: Config): 'kubernetes' | 'token' {
  if (config.vaultAuthMethod !== undefined) return config.vaultAuthMethod;
  return hasToken(config) ? 'token' : 'kubernetes';
}

/** Rules between the Vault settings, including that the files they name are readable. */
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
  (config) => readable('VAULT_TOKEN_FILE', config.vaultTokenFile, isAbsent),
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

/** An agent may write it later. */
const isAbsent = (code: string | undefined): boolean => code === 'ENOENT';

function readable(
  variable: string,
  file: string | undefined,
  mayBe: (code: string | undefined) => boolean = () => false,
): string | undefined {
  if (file === undefined) return undefined;
  try {
    accessSync(file, constants.R_OK);
    return undefined;
  } catch (error) {
    if (mayBe((error as NodeJS.ErrnoException).code)) return undefined;
    return `${variable}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}
