import type { ProxyRequest } from '../../custom-resources/service-config.ts';
import type { EnvironmentVariable } from '../../kubernetes/pod.ts';
import { proxyKeyNames } from './caller-keys.ts';
import type { Context } from './context.ts';
import { tokenFolder } from './names.ts';
import { proxyPort } from './ports.ts';
import { variable, vaultVariables } from './vault-variables.ts';

const credentialNames = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

/** The proxy's configuration; its role, and with it the policy at the secrets server, may be its own. */
export function proxyVariables(
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

export const spoolFolder = '/var/spool/svc';

const credentials = (name: string): EnvironmentVariable[] =>
  credentialNames.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name, key } } }));
