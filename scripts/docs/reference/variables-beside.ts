import { ownVariables } from '../../../src/plugins/wrapper/name-secrets.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { code } from '../operator/cell.ts';

/** Variables that are read and are no settings: who reads them, and what for. */
export const variablesBeside: Readonly<Record<string, readonly [by: string, meaning: string]>> = {
  SVC_CONFIG: ['commands with `--config`', 'YAML file with settings, where `--config` is not given'],
  SVC_DEBUG: ['every command', 'Not empty: a defect of svc is shown with its stack'],
  SVC_SECRET_FD: [
    'SDKs',
    'Descriptor with the secrets, which the wrapper has set; unset: the environment is read',
  ],
  NODE_TLS_REJECT_UNAUTHORIZED: ['Node', '`0`: no server is verified; `svc validate` tells of it'],
  NO_COLOR: ['every command', 'Not empty: no colour; wins over `FORCE_COLOR`'],
  FORCE_COLOR: ['every command', 'Colour where output is no terminal, too; `0` and `false`: none'],
  TERM: ['every command', '`dumb`: neither colour nor progress'],
  COLUMNS: ['every command', 'Width of tables, instead of that of the terminal'],
  SHELL: ['every command', 'Set to `/bin/sh` where it is unset'],
  PATH: ['wrapper, `svc dev`', 'Where the command of the application is looked for'],
  HOME: ['commands that read a cluster', '`$HOME/.kube/config`, where nothing else names a cluster'],
  KUBECONFIG: [
    'operator, agent, commands that read a cluster',
    'Files that name the cluster; go before all else',
  ],
  KUBERNETES_SERVICE_HOST: ['the same, in a pod', 'Address of the API server; Kubernetes sets it'],
  KUBERNETES_SERVICE_PORT: ['the same, in a pod', 'Its port; Kubernetes sets it'],
  AWS_ACCESS_KEY_ID: [
    'proxy, `svc proxy gc`, `svc proxy decrypt`, `svc audit`',
    'Credentials for the object store',
  ],
  AWS_SECRET_ACCESS_KEY: ['the same', 'Secret of that access key'],
  AWS_SESSION_TOKEN: ['the same', 'Token of temporary credentials'],
  AWS_CREDENTIAL_EXPIRATION: ['the same', 'When those end'],
  AWS_PROFILE: ['the same', 'Profile of the AWS files to take credentials from; goes before the access key'],
  AWS_ROLE_ARN: ['the same', 'Role that the pod takes with its token'],
  AWS_WEB_IDENTITY_TOKEN_FILE: ['the same', 'File with that token'],
  AWS_CONTAINER_CREDENTIALS_FULL_URI: ['the same', 'Agent of the node that gives credentials'],
  AWS_CA_BUNDLE: ['the same', 'PEM file with the authorities that sign the object store'],
  PORT: ['demo server of the SDKs', 'Its port, 8080 unless it is set'],
  HOST: ['demo server of the SDKs', 'Its address, all unless it is set'],
  DEMO_KEYS: ['demo server of the SDKs', 'Names to show besides those of the store, separated by commas'],
};

/** Variables that others find set. */
export const variablesGiven: Readonly<Record<string, string>> = {
  SVC_SECRET_FD: 'By the wrapper: number of the inherited descriptor with the secrets',
  SVC_WRAPPED: 'By the wrapper: the first string of the environment, which holds nothing',
  AWS_ENDPOINT_URL_S3:
    'By the webhook, for a pod with the proxy: the address of the proxy, unless the pod sets it',
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
    ...['', 'The AWS default provider chain reads further ones, which AWS documents.'],
    ...['', '## Variables of the plugin system', ''],
    ...tableOf(variablesOfOclif),
    ...['', '## Variables that applications find', ''],
    ...tableOf(variablesGiven),
    ...[
      '',
      'An application inherits neither of',
      `${ownVariables.map(code).join(' and ')} from whoever starts the`,
    ],
    'wrapper, nor any variable of `svc run wrapper` above.',
  ];
}

const tableOf = (texts: Readonly<Record<string, string>>): string[] =>
  markdownTable(
    ['variable', 'meaning'],
    Object.entries(texts).map(([name, meaning]) => [code(name), meaning]),
  );
