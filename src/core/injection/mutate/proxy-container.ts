import type { ProxyRequest } from '../../custom-resources/service-config.ts';
import type { Container, EnvironmentVariable, Volume } from '../../kubernetes/pod.ts';
import { proxyKeyNames } from './caller-keys.ts';
import { chosenContainers } from './chosen.ts';
import type { Context } from './context.ts';
import { proxyName, tokenFolder, volumeNames } from './names.ts';
import { type Needs, ownResources } from './own-resources.ts';
import { ownSecurityContext } from './own-security.ts';
import { proxyPort } from './ports.ts';
import { cloudIdentity } from './proxy-identity.ts';
import { variable, vaultVariables } from './vault-variables.ts';

/** As the specification recommends. */
const needs: Needs = {
  requests: { cpu: '50m', memory: '32Mi' },
  limits: { cpu: '200m', memory: '128Mi' },
};

/** A little more than SVC_PROXY_SPOOL_SIZE, so that the proxy's own limit counts. */
export const spool: Volume = { name: volumeNames.spool, emptyDir: { sizeLimit: '9Gi' } };

export function proxyContainer(context: Context, proxy: ProxyRequest): Container {
  const { pod, plan, defaults, ports, certificates, token } = context;
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
      ...(certificates === undefined ? [] : [certificates.mount]),
      ...identity.mounts,
    ],
  };
}

/** It starts before the application and ends after it, and a Job does not wait for its end. */
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

/** The proxy's configuration; its role, and with it the policy at the secrets server, may be its own. */
function proxyVariables(
  { plan, ports, callerKeys }: Context,
  proxy: ProxyRequest,
): readonly EnvironmentVariable[] {
  return [
    ...vaultVariables(plan, proxy.role ?? plan.vault.role),
    ...variable('SVC_SA_TOKEN_PATH', `${tokenFolder}/token`),
    ...variable('SVC_PROXY_LISTEN', `127.0.0.1:${proxyPort}`),
    ...variable('SVC_PROXY_HEALTH', `:${ports.proxyHealth}`),
    ...variable('SVC_PROXY_UPSTREAM', proxy.upstream),
    ...variable('SVC_TRANSIT_KEY', proxy.transitKey),
    ...variable('SVC_PROXY_SPOOL_DIR', spoolFolder),
    ...variable(proxyKeyNames.id, callerKeys?.id),
    ...variable(proxyKeyNames.secret, callerKeys?.secret),
    ...(proxy.credentialsSecret === undefined ? [] : credentials(proxy.credentialsSecret)),
  ];
}

const spoolFolder = '/var/spool/svc';

const credentials = (name: string): EnvironmentVariable[] =>
  credentialNames.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name, key } } }));
