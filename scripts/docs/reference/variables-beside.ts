import { ownVariables } from '../../../src/plugins/wrapper/name-secrets.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { code } from '../operator/cell.ts';

/** Variables that are read but are not settings: who reads them, and what for. */
export const variablesBeside: Readonly<Record<string, readonly [by: string, meaning: string]>> = {
  SVC_CONFIG: ['commands with `--config`', 'YAML file with settings, unless `--config` is given'],
  SVC_DEBUG: ['every command', 'Not empty: a defect of svc is shown with its stack'],
  SVC_SECRET_FD: ['SDKs', 'Descriptor with the secrets, set by the wrapper; unset: the environment is read'],
  NODE_TLS_REJECT_UNAUTHORIZED: ['Node', '`0`: no server is verified; `svc validate` reports it'],
  SSL_CERT_FILE: [
    'clients of the key server',
    'CAs to trust where none is given or mounted; unset: the bundle of the system',
  ],
  SSL_CERT_DIR: ['the same', 'Folders with more of them, separated by colons'],
  NODE_EXTRA_CA_CERTS: ['Node; the same', 'File with CAs to trust besides'],
  NO_COLOR: ['every command', 'Not empty: no colour; wins over `FORCE_COLOR`'],
  FORCE_COLOR: ['every command', 'Colour even without a terminal; `0` and `false`: none'],
  TERM: ['every command', '`dumb`: neither colour nor progress'],
  COLUMNS: ['every command', 'Width of tables, instead of the terminal width'],
  SHELL: ['every command', 'Set to `/bin/sh` if unset'],
  PATH: ['wrapper, `svc dev`', 'Folders to search for the command of the application'],
  HOME: ['commands that read a cluster', '`$HOME/.kube/config` is read if nothing else names a cluster'],
  KUBECONFIG: [
    'operator, agent, commands that read a cluster',
    'Kubeconfig files; override everything else that names a cluster',
  ],
  HTTPS_PROXY: ['the same, with a kubeconfig', 'Proxy to the API server, unless the kubeconfig names one'],
  HTTP_PROXY: ['the same', 'The same, to an API server without TLS'],
  NO_PROXY: ['the same', 'Names, addresses and blocks to be asked without a proxy, as in kubectl'],
  KUBERNETES_SERVICE_HOST: [
    'operator, agent, commands in a pod',
    'Address of the API server; Kubernetes sets it',
  ],
  KUBERNETES_SERVICE_PORT: ['the same, in a pod', 'Its port; Kubernetes sets it'],
  AWS_ACCESS_KEY_ID: [
    'proxy, `svc proxy gc`, `svc proxy decrypt`, `svc audit`',
    'Credentials for the object store',
  ],
  AWS_SECRET_ACCESS_KEY: ['the same', 'Secret of that access key'],
  AWS_SESSION_TOKEN: ['the same', 'Token of temporary credentials'],
  AWS_CREDENTIAL_EXPIRATION: ['the same', 'When the temporary credentials expire'],
  AWS_PROFILE: ['the same', 'Profile of the AWS files with the credentials; overrides the access key'],
  AWS_ROLE_ARN: ['the same', 'Role that the pod assumes with its token'],
  AWS_WEB_IDENTITY_TOKEN_FILE: ['the same', 'File with that token'],
  AWS_CONTAINER_CREDENTIALS_FULL_URI: ['the same', 'Address of the agent that issues credentials'],
  AWS_CA_BUNDLE: ['the same', 'PEM file with the CA certificates of the object store'],
  PORT: ['demo server of the SDKs', 'Its port; unset: 8080'],
  HOST: ['demo server of the SDKs', 'Its address; unset: all'],
  DEMO_KEYS: ['demo server of the SDKs', 'Names to show besides those of the store, separated by commas'],
};

/** Variables that others find set. */
export const variablesGiven: Readonly<Record<string, string>> = {
  SVC_SECRET_FD: 'From the wrapper: number of the inherited descriptor with the secrets',
  SVC_WRAPPED: 'From the wrapper: the first string of the environment; empty',
  AWS_ENDPOINT_URL_S3:
    'From the webhook, in a pod with the proxy: the address of the proxy, unless the pod sets it',
};

/** Variables that oclif, which the commands are built with, reads under our name. */
export const variablesOfOclif: Readonly<Record<string, string>> = {
  SVC_DATA_DIR: 'Folder of installed plugins',
  SVC_CACHE_DIR: 'Folder for what can be fetched again',
  SVC_CONFIG_DIR: 'Folder of its own configuration; not that of `--config`',
  SVC_NPM_REGISTRY: 'Registry that plugins are installed from',
};

export function otherVariableTables(): string[] {
  const read = Object.entries(variablesBeside).map(([name, [by, meaning]]) => [code(name), by, meaning]);
  return [
    ...['', '## Other variables that are read', ''],
    ...markdownTable(['variable', 'by', 'meaning'], read),
    ...['', 'The AWS default provider chain reads further variables, which AWS documents.'],
    ...['', '## Variables of the plugin system', ''],
    ...tableOf(variablesOfOclif),
    ...['', '## Variables that applications find', ''],
    ...tableOf(variablesGiven),
    ...[
      '',
      'An application inherits neither',
      `${ownVariables.map(code).join(' nor ')} from whoever starts the`,
    ],
    'wrapper, nor any variable of `svc run wrapper` above.',
  ];
}

const tableOf = (texts: Readonly<Record<string, string>>): string[] =>
  markdownTable(
    ['variable', 'meaning'],
    Object.entries(texts).map(([name, meaning]) => [code(name), meaning]),
  );
