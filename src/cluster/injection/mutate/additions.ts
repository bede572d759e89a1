import { cut, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { type ImageMirrors, isConfiguredImage } from '../../images/reference.ts';
import type { Container, EnvironmentVariable, Pod, Volume, VolumeMount } from '../../kube/pod.ts';
import type { CallerKeys, InjectionPlan, MutationEnvironment, PlannedSecret } from '../contract.ts';
import {
  containersOf,
  formerTokenName,
  isInjected,
  isWrittenWrapped,
  proxyName,
  tokenFolder,
  volumeNames,
} from '../protected-pods.ts';
import { literal } from './application-process.ts';
import type { Context, Diagnostics, Shared } from './context.ts';

export interface SecretSettings {
  readonly paths: string;
  /** Undefined if no field is renamed. */
  readonly envMap: string | undefined;
}

/** SVC_SECRET_PATHS, and SVC_ENV_MAP with one group for each path. */
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

/** Names that custom resources admit but the two variables cannot express. */
export function secretErrors(secrets: readonly PlannedSecret[]): readonly string[] {
  return secrets.flatMap(({ path, mappings }) => [
    ...(fits(path, /,/)
      ? []
      : [`${JSON.stringify(cut(path))}: a KV path with a comma or blanks at its ends cannot be delivered`]),
    ...messagesOn(
      mappings.filter(({ field }) => !fits(field, /[,;]/)),
      ({ field }) => `${cut(path)}: ${unmappable(cut(field))}`,
    ),
  ]);
}

const fits = (name: string, separators: RegExp): boolean =>
  name !== '' && name.trim() === name && !separators.test(name);

const unmappable = (field: string): string =>
  `the field ${JSON.stringify(field)} cannot be mapped, because its name has a comma, a semicolon or blanks at its ends`;

/** A variable, escaped against the kubelet's expansion; none without a value. */
export const variable = (name: string, value: string | undefined): readonly EnvironmentVariable[] =>
  value === undefined ? [] : [{ name, value: literal(value) }];

/**
 * Settings for access to the secrets server. All are set explicitly, so that no weaker value from elsewhere applies.
 */
export function vaultVariables({ vault }: InjectionPlan, role: string): readonly EnvironmentVariable[] {
  return [
    ...variable('VAULT_ADDR', vault.address),
    ...variable('VAULT_AUTH_METHOD', 'kubernetes'),
    ...variable('VAULT_AUTH_ROLE', role),
    ...variable('VAULT_AUTH_MOUNT_PATH', vault.authMount),
    ...variable('VAULT_SKIP_VERIFY', String(vault.skipVerify)),
  ];
}

/** Variables with the keys of the proxy's callers; its own keys for the store have other names. */
export const proxyKeyNames = {
  id: 'SVC_PROXY_ACCESS_KEY_ID',
  secret: 'SVC_PROXY_SECRET_ACCESS_KEY',
} as const;

const applicationNames = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY' } as const;
/** An application that sets one of these brings its own credentials. A role from its cloud does not count. */
const credentialNames: ReadonlySet<string> = new Set([
  ...[applicationNames.id, applicationNames.secret, 'AWS_SESSION_TOKEN', 'AWS_PROFILE'],
  ...['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE'],
]);

/** The form of generated keys; keys of other forms may be known to somebody. */
const shapes = { id: /^SVC[A-Z2-7]{17}$/, secret: /^[\w-]{40}$/ } as const;

/** The pod's existing keys if the webhook is called again, else new ones. Undefined: none are requested. */
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

/** Caller keys for a container that names no credentials of its own. */
export function callerVariables(
  container: Container,
  keys: CallerKeys | undefined,
): readonly EnvironmentVariable[] {
  if (keys === undefined || namesCredentials(container, keys)) return [];
  return [...variable(applicationNames.id, keys.id), ...variable(applicationNames.secret, keys.secret)];
}

/** Warns about callers with their own keys, which the proxy refuses. */
export function callerWarnings(
  { proxy }: InjectionPlan,
  chosen: readonly Container[],
  keys: CallerKeys | undefined,
): string[] {
  if (proxy?.enabled !== true || keys === undefined) return [];
  return chosen.flatMap((container) => {
    const { name, env = [], envFrom = [] } = container;
    const say = (text: string) => [`container ${cut(name)}: ${text}`];
    if (namesCredentials(container, keys))
      return say('has its own AWS credentials, which the proxy does not accept (svc/proxy-caller-keys).');
    if (envFrom.length > 0 || env.some((one) => one.name === 'AWS_ROLE_ARN'))
      return say(
        'now signs with the keys of its proxy; AWS credentials from envFrom or a role are not used.',
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

/** Adds a volume. An existing volume of the operator is replaced. */
export function addVolume(
  volumes: readonly Volume[],
  wanted: Volume,
  { defaults, remarks }: Pick<Context, 'defaults' | 'remarks'>,
): readonly Volume[] {
  const index = volumes.findIndex(({ name }) => name === wanted.name);
  const there = volumes[index];
  if (there === undefined) return [...volumes, wanted];
  const isSame = covers(there, wanted) && audienceOf(there) === audienceOf(wanted);
  // a pod must not start without its CAs
  if (isSame && there.configMap?.optional !== true) return volumes;
  if (!covers(there, fixedPart(wanted)))
    remarks.errors.push(`volume ${wanted.name}: the name is reserved for the operator's own volume`);
  return volumes.with(index, withImageOf(there, wanted, defaults.imageMirrors));
}

/** Undefined stands for the API server's audience. */
function audienceOf({ projected }: Volume): string | undefined {
  return projected?.sources?.find((source) => source.serviceAccountToken)?.serviceAccountToken?.audience;
}

/** The volume without the parts that may differ between operator versions or between users of the pod. */
function fixedPart({ image, projected, hostPath, configMap, ...rest }: Volume): object {
  const { defaultMode: _, ...kept } = projected ?? {};
  const sources = projected?.sources?.map(({ serviceAccountToken, ...source }) => {
    const { audience, ...token } = serviceAccountToken ?? {};
    return { ...source, ...(serviceAccountToken && { serviceAccountToken: token }) };
  });
  return {
    ...rest,
    ...(configMap && { configMap: rest.name === volumeNames.storeCertificates ? {} : configMap }),
    ...(image && { image: {} }),
    ...(projected && { projected: { ...kept, ...(sources && { sources }) } }),
    ...(hostPath && { hostPath: { type: hostPath.type } }),
  };
}

/** Keeps the same image from a mirror. */
function withImageOf({ image: there }: Volume, volume: Volume, mirrors: ImageMirrors | undefined): Volume {
  const { image } = volume;
  if (image === undefined || !isConfiguredImage(there?.reference, image.reference, mirrors)) return volume;
  return { ...volume, image: { ...image, ...there } };
}

/** Adds a mount unless the container already has it. */
export function addMount(container: Container, wanted: VolumeMount, { errors }: Diagnostics): Container {
  const { volumeMounts = [] } = container;
  const there = volumeMounts.filter(({ mountPath }) => resolvedPath(mountPath) === wanted.mountPath);
  if (there.length === 0) return { ...container, volumeMounts: [...volumeMounts, wanted] };
  const others = there.filter((one) => !isSameMount(one, wanted));
  const place = `container ${cut(container.name)}: ${wanted.mountPath}`;
  const reserved = `${place} is reserved for the volume ${wanted.name}`;
  errors.push(...messagesOn(others, ({ name }) => `${reserved}, and ${cut(name)} is mounted there`));
  return container;
}

/** Whether two mounts show the same files; besides path and volume only a sub-path matters. */
export function isSameMount(there: VolumeMount, wanted: VolumeMount): boolean {
  const { subPath, subPathExpr } = there;
  return (
    covers({ ...there, mountPath: resolvedPath(there.mountPath) }, wanted) &&
    (subPath ?? '') === (wanted.subPath ?? '') &&
    (subPathExpr ?? '') === ''
  );
}

/** Whether `there` has all members of `wanted` with equal values, and arrays of equal length. */
export function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(there) || there.length !== wanted.length) return false;
    return wanted.every((item, at) => covers(there[at], item));
  }
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(there, name), value));
}

/**
 * A mount path as kubelet and runtime resolve it: `svc`, `//svc/` and `/x/../svc` are all `/svc`. Takes linear time,
 * because the pod's author chooses the path.
 */
export function resolvedPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

const expirationSeconds = 3_600;
const automounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether the mount is the token that the API server mounts into containers by default. */
export const isAutomounted = ({ mountPath }: VolumeMount): boolean => resolvedPath(mountPath) === automounted;

/**
 * Whether a container needs a token from us. Unless pod or account forbid it, the API server mounts a token before
 * webhooks run. A container that already has ours keeps it.
 */
export function needsToken({ volumeMounts = [] }: Container, audience: string | undefined): boolean {
  // the token mounted by default is for the API server
  if (audience !== undefined) return true;
  if (volumeMounts.some(({ name }) => name === volumeNames.token)) return true;
  return !volumeMounts.some(isAutomounted);
}

/**
 * A token for the login at the secrets server. The kubelet makes it readable for the pod's group, or for the user that
 * all containers share; otherwise it must be readable for any user.
 * @param audience undefined: the API server's, and then the token also grants the service account's permissions there
 */
export function ownToken({ spec }: Pod, audience: string | undefined): Shared {
  const defaultMode = spec.securityContext?.fsGroup === undefined ? 0o444 : 0o440;
  const token = { path: 'token', expirationSeconds, ...(audience !== undefined && { audience }) };
  const sources = [{ serviceAccountToken: token }];
  return {
    volume: { name: volumeNames.token, projected: { sources, defaultMode } },
    mount: { name: volumeNames.token, mountPath: tokenFolder, readOnly: true },
  };
}

/**
 * Renames the token volume in a pod written by an older operator: during an upgrade another replica may be called, and
 * people apply objects that they read from the API server. A volume of that name that no container of the operator's
 * form mounts belongs to the user.
 */
export function withTokenRenamed(pod: Pod): Pod {
  const isOwn = (container: Container) => isInjected(container) || isWrittenWrapped(container);
  const isFormer = ({ name, mountPath }: VolumeMount) =>
    name === formerTokenName && mountPath === tokenFolder;
  const isThere = containersOf(pod).some((one) => isOwn(one) && one.volumeMounts?.some(isFormer));
  if (!isThere) return pod;
  const { initContainers, volumes = [] } = pod.spec;
  const others = volumes.filter(({ name }) => name !== volumeNames.token);
  const spec = {
    ...pod.spec,
    ...(initContainers && { initContainers: initContainers.map(renameToken) }),
    containers: pod.spec.containers.map(renameToken),
    volumes: others.map(renamedToken),
  };
  return { ...pod, spec };
}

const renameToken = (container: Container): Container =>
  container.volumeMounts === undefined
    ? container
    : { ...container, volumeMounts: container.volumeMounts.map(renamedToken) };

const renamedToken = <T extends { readonly name: string }>(named: T): T =>
  named.name === formerTokenName ? { ...named, name: volumeNames.token } : named;
