import type { Container, EnvironmentVariable, Pod } from '../../kubernetes/pod.ts';
import type { CallerKeys, InjectionPlan, MutationEnvironment, PlannedSecret } from '../contract.ts';
import { containersOf, proxyName } from './containers.ts';

export interface SecretSettings {
  readonly paths: string;
  /** Undefined where no field gets another name. */
  readonly envMap: string | undefined;
}

/** SVC_SECRET_PATHS, and SVC_ENV_MAP with a group a path. */
export function secretSettings(secrets: readonly PlannedSecret[]): SecretSettings {
  const groups = secrets.map(({ mappings }) =>
    mappings.map(({ field, variable }) => `${field}=${variable}`).join(','),
  );
  while (groups.at(-1) === '') groups.pop();
  return {
    paths: secrets.map(({ path }) => path).join(','),
    envMap: groups.length === 0 ? undefined : groups.join(';'),
  };
}

/** Names that the two variables cannot carry; a custom resource admits them. */
export function secretErrors(secrets: readonly PlannedSecret[]): readonly string[] {
  return secrets.flatMap(({ path, mappings }) => [
    ...(fits(path, /,/)
      ? []
      : [`${JSON.stringify(path)}: a KV path with a comma or blanks at its ends cannot be delivered`]),
    ...mappings
      .filter(({ field }) => !fits(field, /[,;]/))
      .map(({ field }) => `${path}: ${unmappable(field)}`),
  ]);
}

const fits = (name: string, separators: RegExp): boolean =>
  name !== '' && name.trim() === name && !separators.test(name);

const unmappable = (field: string): string =>
  `the field ${JSON.stringify(field)} cannot be mapped, because its name has a comma, a semicolon or blanks at its ends`;

/** A variable, its value protected from the kubelet's expansion; none where there is no value. */
export const variable = (name: string, value: string | undefined): readonly EnvironmentVariable[] =>
  value === undefined ? [] : [{ name, value: literal(value) }];

/** How wrapper and proxy reach the secrets server. Each is set, so that nothing weaker from elsewhere counts. */
export function vaultVariables({ vault }: InjectionPlan, role: string): readonly EnvironmentVariable[] {
  return [
    ...variable('VAULT_ADDR', vault.address),
    ...variable('VAULT_AUTH_METHOD', 'kubernetes'),
    ...variable('VAULT_AUTH_ROLE', role),
    ...variable('VAULT_AUTH_MOUNT_PATH', vault.authMount),
    ...variable('VAULT_SKIP_VERIFY', String(vault.skipVerify)),
  ];
}

/** Credentials of the proxy's callers; its own for the store have other names. */
export const proxyKeyNames = {
  id: 'SVC_PROXY_ACCESS_KEY_ID',
  secret: 'SVC_PROXY_SECRET_ACCESS_KEY',
} as const;

const applicationNames = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY' } as const;
/** An application that sets one of these has credentials of its own. A role from its cloud does not count. */
const credentialNames: ReadonlySet<string> = new Set([
  ...[applicationNames.id, applicationNames.secret, 'AWS_SESSION_TOKEN', 'AWS_PROFILE'],
  ...['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE'],
]);

/** What makes the keys writes them so; of others, somebody may know them. */
const shapes = { id: /^SVC[A-Z2-7]{17}$/, secret: /^[\w-]{40}$/ } as const;

/** The pod's earlier ones when the webhook is called again; else new ones. Undefined: none are requested. */
export function callerKeysOf(
  pod: Pod,
  { proxy }: InjectionPlan,
  { newCallerKeys }: MutationEnvironment,
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

/** The proxy refuses callers with any other key. */
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

/** A part of a command, an argument or the value of a variable, as the kubelet reads it. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly name: string };

const pattern = /\$(?:\$|\(([^)]*)\)|[\s\S])?|[^$]+/g;
/** Where no parenthesis closes any more; each `$(` would look for one up to the end. */
const patternWithoutReferences = /\$[\s\S]?|[^$]+/g;

/**
 * `$(NAME)` is a reference, `$$` a dollar; any other `$` stands for itself.
 * Source: https://github.com/kubernetes/kubernetes/blob/v1.37.1/third_party/forked/golang/expansion/expand.go
 */
export function piecesOf(text: string): Piece[] {
  const end = text.lastIndexOf(')') + 1;
  return [...text.slice(0, end).matchAll(pattern), ...text.slice(end).matchAll(patternWithoutReferences)].map(
    ([all, name]) => {
      if (name !== undefined) return { kind: 'reference', name };
      return { kind: 'text', text: all === '$$' ? '$' : all };
    },
  );
}

export const reference = (name: string): string => `$(${name})`;

/** What the kubelet expands to the text itself. */
export const literal = (text: string): string => text.replaceAll('$', '$$$$');
