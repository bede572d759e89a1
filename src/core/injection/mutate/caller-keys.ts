import type { Container, EnvironmentVariable, Pod } from '../../kubernetes/pod.ts';
import type { CallerKeys, InjectionPlan, Surroundings } from '../contract.ts';
import { containersOf } from './chosen.ts';
import { proxyName } from './names.ts';
import { variable } from './vault-variables.ts';

/** By which the proxy knows its callers; its own credentials for the store have other names. */
export const proxyKeyNames = {
  id: 'SVC_PROXY_ACCESS_KEY_ID',
  secret: 'SVC_PROXY_SECRET_ACCESS_KEY',
} as const;

const applicationNames = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY' } as const;
/** Where an application names one of these, it has credentials of its own. A role that its cloud gives it is none that it names. */
const credentialNames: ReadonlySet<string> = new Set([
  ...[applicationNames.id, applicationNames.secret, 'AWS_SESSION_TOKEN', 'AWS_PROFILE'],
  ...['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE'],
]);

/** What makes the keys writes them so; of others, somebody may know them. */
const shapes = { id: /^SVC[A-Z2-7]{17}$/, secret: /^[\w-]{40}$/ } as const;

/** Those that the pod was given before, when the webhook is asked again; else new ones. Undefined: it asks for none. */
export function callerKeysOf(
  pod: Pod,
  { proxy }: InjectionPlan,
  { newCallerKeys }: Surroundings,
): CallerKeys | undefined {
  if (proxy?.enabled !== true || proxy.callerKeys !== true) return undefined;
  const env = containersOf(pod).find(({ name }) => name === proxyName)?.env ?? [];
  const [id, secret] = [proxyKeyNames.id, proxyKeyNames.secret].map(
    (name) => env.findLast((one) => one.name === name)?.value ?? '',
  ) as [string, string];
  if (shapes.id.test(id) && shapes.secret.test(secret)) return { id, secret };
  if (newCallerKeys === undefined) throw new Error('nothing makes keys for the callers of the proxy');
  return newCallerKeys();
}

/** For a container that names no credentials of its own. */
export function callerVariables(
  container: Container,
  keys: CallerKeys | undefined,
): readonly EnvironmentVariable[] {
  if (keys === undefined || namesCredentials(container, keys)) return [];
  return [...variable(applicationNames.id, keys.id), ...variable(applicationNames.secret, keys.secret)];
}

/** Whoever calls the proxy with other keys than these is refused. */
export function callerWarnings(
  { proxy }: InjectionPlan,
  chosen: readonly Container[],
  keys: CallerKeys | undefined,
): string[] {
  if (proxy?.enabled !== true || keys === undefined) return [];
  return chosen.flatMap((container) => {
    const { name, env = [], envFrom = [] } = container;
    const say = (text: string) => [`container ${name}: ${text}`];
    if (namesCredentials(container, keys))
      return say(
        'names AWS credentials of its own, with which the proxy takes no call (svc/proxy-caller-keys).',
      );
    if (envFrom.length > 0 || env.some((one) => one.name === 'AWS_ROLE_ARN'))
      return say(
        'signs with the keys of its proxy from now on; AWS credentials that envFrom or a role give it do not count.',
      );
    return [];
  });
}

function namesCredentials({ env = [] }: Container, keys: CallerKeys): boolean {
  const own = new Map<string, string>([
    [applicationNames.id, keys.id],
    [applicationNames.secret, keys.secret],
  ]);
  return env.some(({ name, value }) => credentialNames.has(name) && own.get(name) !== value);
}
