import type { Container, EnvironmentVariable, Volume, VolumeMount } from '../../kube/pod.ts';
import type { ProxyRequest } from '../../resources/resources.ts';
import type { InjectionDefaults } from '../contract.ts';
import { chosenContainers, proxyName, tokenFolder, volumeNames } from '../protected-pods.ts';
import { proxyKeyNames, resolvedPath, variable, vaultVariables } from './additions.ts';
import {
  type Context,
  type Needs,
  ownResources,
  ownSecurityContext,
  proxyPort,
  type Shared,
} from './context.ts';

/** As the specification recommends. */
const needs: Needs = {
  requests: { cpu: '50m', memory: '32Mi' },
  limits: { cpu: '200m', memory: '128Mi' },
};

/** Slightly larger than SVC_PROXY_SPOOL_SIZE, so that the proxy's own limit applies first. */
export const spool: Volume = { name: volumeNames.spool, emptyDir: { sizeLimit: '9Gi' } };

export function proxyContainer(context: Context, proxy: ProxyRequest): Container {
  const { pod, plan, defaults, ports, certificates, storeCertificates, token } = context;
  const identity = cloudIdentity(chosenContainers(pod, plan), proxy.credentialsSecret === undefined);
  const ready = { httpGet: { path: '/readyz', port: ports.proxyHealth } };
  return {
    name: proxyName,
    image: defaults.proxyImage,
    args: ['run', 'proxy'],
    env: [...proxyVariables(context, proxy), ...identity.variables],
    resources: ownResources(pod, needs),
    securityContext: ownSecurityContext(pod),
    readinessProbe: { ...ready, periodSeconds: 5 },
    volumeMounts: [
      token.mount,
      { name: volumeNames.spool, mountPath: spoolFolder },
      ...[certificates, storeCertificates].flatMap((one) => (one === undefined ? [] : [one.mount])),
      ...identity.mounts,
    ],
  };
}

/** The object store's CAs, used in place of public ones; undefined: none. */
export function storeAuthorities(
  { storeCA }: ProxyRequest,
  { storeAuthorities }: InjectionDefaults,
): Shared | undefined {
  const from = storeCA === undefined ? storeAuthorities : namedAuthorities(storeCA);
  if (from === undefined) return undefined;
  const name = volumeNames.storeCertificates;
  // not optional: the proxy must not start before they exist
  const items = [{ key: from.key, path: authorityFile }];
  return {
    volume: { name, configMap: { name: from.configMap, items } },
    mount: { name, mountPath: storeAuthorityFolder, readOnly: true },
  };
}

/** @param storeCA `<name>` or `<name>/<key>`; empty: none, so the public CAs apply */
export function namedAuthorities(storeCA: string): InjectionDefaults['storeAuthorities'] {
  const [configMap = '', key = authorityFile] = storeCA.split('/');
  return configMap === '' ? undefined : { configMap, key };
}

const authorityFile = 'ca.crt';
const storeAuthorityFolder = '/etc/svc/store-ca';

/** Starts before the application and ends after it; a Job does not wait for it. */
export const asSidecar = (container: Container): Container => ({
  ...container,
  restartPolicy: 'Always',
  startupProbe: {
    httpGet: container.readinessProbe?.httpGet,
    periodSeconds: 1,
    failureThreshold: 120,
  } as NonNullable<Container['startupProbe']>,
});

const credentialNames = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

/** The proxy's configuration; it may have its own role, and thereby its own policy at the secrets server. */
function proxyVariables(
  { plan, ports, callerKeys, storeCertificates }: Context,
  proxy: ProxyRequest,
): readonly EnvironmentVariable[] {
  return [
    ...vaultVariables(plan, proxy.role ?? plan.vault.role),
    ...variable('SVC_SA_TOKEN_PATH', `${tokenFolder}/token`),
    ...variable('SVC_PROXY_LISTEN', `127.0.0.1:${proxyPort}`),
    ...variable('SVC_PROXY_HEALTH', `:${ports.proxyHealth}`),
    ...variable('SVC_PROXY_UPSTREAM', proxy.upstream),
    ...variable('SVC_TRANSIT_KEY', proxy.transitKey),
    ...variable('SVC_PROXY_FORMAT', proxy.format?.toString()),
    ...variable('SVC_PROXY_RECOVERY_RECIPIENT', proxy.recoveryRecipients?.join(',')),
    ...variable('SVC_PROXY_SPOOL_DIR', spoolFolder),
    ...variable('AWS_CA_BUNDLE', storeCertificates && `${storeAuthorityFolder}/${authorityFile}`),
    ...variable(proxyKeyNames.id, callerKeys?.id),
    ...variable(proxyKeyNames.secret, callerKeys?.secret),
    ...(proxy.credentialsSecret === undefined ? [] : credentials(proxy.credentialsSecret)),
  ];
}

const spoolFolder = '/var/spool/svc';

const credentials = (name: string): EnvironmentVariable[] =>
  credentialNames.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name, key } } }));

/** Variables by which EKS assigns a role to a pod; on other clouds the metadata server assigns it to all containers. */
const roleVariables = [
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_STS_REGIONAL_ENDPOINTS',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
];
const regionVariables = ['AWS_REGION', 'AWS_DEFAULT_REGION'];
const tokenFiles = ['AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];

export interface CloudIdentity {
  readonly variables: readonly EnvironmentVariable[];
  readonly mounts: readonly VolumeMount[];
}

/**
 * The pod's region and, if the proxy has no credentials of its own, its role, taken from the containers to be wrapped.
 */
export function cloudIdentity(containers: readonly Container[], withRole: boolean): CloudIdentity {
  const names = [...regionVariables, ...(withRole ? roleVariables : [])];
  const found = names
    .map((name) => containers.map((one) => plainVariable(one, name)).find((one) => one !== undefined))
    .filter((one) => one !== undefined);
  const files = found.filter(({ name }) => tokenFiles.includes(name)).map(({ value = '' }) => value);
  const mounts = files
    .map((file) =>
      containers.flatMap(({ volumeMounts = [] }) => volumeMounts).find((mount) => holds(mount, file)),
    )
    .filter((mount) => mount !== undefined);
  return { variables: found, mounts: [...new Map(mounts.map((mount) => [mount.mountPath, mount])).values()] };
}

/** A variable whose value does not depend on others of the container. */
function plainVariable({ env = [] }: Container, name: string): EnvironmentVariable | undefined {
  const found = env.findLast((one) => one.name === name);
  return found?.value && !found.value.includes('$') ? { name, value: found.value } : undefined;
}

function holds({ mountPath }: VolumeMount, file: string): boolean {
  const folder = resolvedPath(mountPath);
  return file.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** Credential servers that only a node can reach; no policy allows them unless requested. */
export const credentialServers = {
  agent: { name: 'the EKS Pod Identity agent', address: '169.254.170.23', port: 80 },
  node: { name: 'the instance metadata service', address: '169.254.169.254', port: 80 },
} as const;

/** `given`: in variables; `role`: from STS, for a token of the pod. */
export type InjectedCredentials = 'given' | 'role' | keyof typeof credentialServers;

/**
 * How the proxy obtains credentials for the object store: the first source that applies, as in the AWS default provider
 * chain.
 * @param names of the proxy's variables
 */
export function credentialSource(names: ReadonlySet<string>): InjectedCredentials {
  const hasAll = (...wanted: string[]) => wanted.every((name) => names.has(name));
  if (hasAll('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')) return 'given';
  if (hasAll('AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE')) return 'role';
  return names.has('AWS_CONTAINER_CREDENTIALS_FULL_URI') ? 'agent' : 'node';
}
