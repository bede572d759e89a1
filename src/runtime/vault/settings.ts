import { boolean, enumeration, matching, type Parser, path } from '../../core/settings/parsers.ts';
import type { Resolved, Settings } from '../../core/settings/setting.ts';
import { httpUrl } from '../../core/settings/url.ts';
import { mountPath } from '../../core/vault/mount-path.ts';
import { roleName } from '../../core/vault/names.ts';

/** How a component reaches the key server and who it is there; shared by proxy and wrapper. */
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
    summary: 'File that holds the token, read again at each login; wins over VAULT_TOKEN',
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
    summary: 'File with the certificates that sign the secrets server',
    ...path(),
  },
  vaultCaPath: {
    variable: 'VAULT_CAPATH',
    flag: 'vault-ca-path',
    summary: 'Folder of such files; /svc/certs where it is present and nothing else is given',
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
    summary: 'Broker that speaks the same API and stands before the secrets server',
    ...httpUrl('https://broker.example.eu:8443'),
  },
  brokerTlsCert: {
    variable: 'SVC_BROKER_TLS_CERT',
    summary: 'Client certificate for the broker, or for the secrets server without one',
    ...path(),
  },
  brokerTlsKey: {
    variable: 'SVC_BROKER_TLS_KEY',
    summary: 'Key of that certificate',
    ...path(),
  },
  brokerTlsCa: {
    variable: 'SVC_BROKER_TLS_CA',
    summary: 'Certificates that sign the broker, or the secrets server without one',
    ...path(),
  },
} satisfies Settings;

export type VaultSettings = typeof vaultSettings;
export type ResolvedVaultSettings = Resolved<VaultSettings>;

/** White space at the ends is dropped: files and templates like to add a line end. */
function token(): Parser<string> {
  const shape = matching(/^[\x21-\x7e]+$/, 'a token of printable characters without blanks');
  return { ...shape, parse: (given) => shape.parse(given.trim()) };
}
