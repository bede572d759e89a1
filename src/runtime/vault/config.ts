import { existsSync, readdirSync } from 'node:fs';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { authMethod } from './rules.ts';
import type { ResolvedVaultSettings } from './settings.ts';

/** What the client of the key server needs to know. */
export interface VaultConfig extends VaultPlace {
  readonly auth: VaultAuth;
}

export interface VaultPlace {
  readonly endpoint: VaultEndpoint;
  readonly namespace: string | undefined;
}

/** Where requests go: the broker where there is one, else the secrets server. */
export interface VaultEndpoint {
  /** `/v1/…` is appended to its path. */
  readonly url: URL;
  /** Never true for a broker. */
  readonly skipVerify: boolean;
  /** PEM files; empty, and no `caPath`: the roots that Node trusts. */
  readonly caFiles: readonly string[];
  readonly caPath: string | undefined;
  readonly client: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export type VaultAuth =
  | { readonly method: 'token'; readonly token: string }
  /** The file is read again at each login. */
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
 * The settings, checked by `vaultRules`, in the shape that the client uses.
 * @throws SvcError CONFIG_INVALID when a role or token is missing that the rules ask for
 */
export function vaultConfig(settings: ResolvedVaultSettings): VaultConfig {
  return { ...vaultPlace(settings), auth: vaultAuth(settings) };
}

/** Where the server is, whoever logs in there. */
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
  return {
    url: settings.vaultAddr,
    skipVerify: settings.vaultSkipVerify,
    caFiles,
    caPath: settings.vaultCaPath ?? mounted,
  };
}

/** The wrapper's folder has an empty one to mount them at. One that cannot be read is reported when it is needed. */
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

/** @throws SvcError CONFIG_INVALID when a role or token is missing that the rules ask for */
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
