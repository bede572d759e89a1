import { existsSync } from 'node:fs';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { authMethod } from './rules.ts';
import type { ResolvedVaultSettings } from './settings.ts';

/** What the client of the key server needs to know. */
export interface VaultConfig {
  readonly endpoint: VaultEndpoint;
  readonly auth: VaultAuth;
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
  return {
    endpoint: {
      ...(settings.brokerAddr ? brokerTrust(settings) : serverTrust(settings)),
      client: client(settings),
    },
    auth: auth(settings),
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
  const mounted = caFiles.length === 0 && existsSync(mountedCertificates) ? mountedCertificates : undefined;
  return {
    url: settings.vaultAddr,
    skipVerify: settings.vaultSkipVerify,
    caFiles,
    caPath: settings.vaultCaPath ?? mounted,
  };
}

function client({ brokerTlsCert, brokerTlsKey }: ResolvedVaultSettings) {
  if (brokerTlsCert === undefined || brokerTlsKey === undefined) return undefined;
  return { certFile: brokerTlsCert, keyFile: brokerTlsKey };
}

function auth(settings: ResolvedVaultSettings): VaultAuth {
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
