import type { ProxyRequest } from '../../custom-resources/service-config.ts';
import type { Container, Volume } from '../../kubernetes/pod.ts';
import { chosenContainers } from './chosen.ts';
import type { Context } from './context.ts';
import { proxyName, volumeNames } from './names.ts';
import { type Needs, ownResources } from './own-resources.ts';
import { ownSecurityContext } from './own-security.ts';
import { cloudIdentity } from './proxy-identity.ts';
import { proxyVariables, spoolFolder } from './proxy-variables.ts';

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
