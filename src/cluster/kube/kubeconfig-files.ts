import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { exitStatus, SvcError } from '../../runtime/errors.ts';

/** What the current context names, with members as in the files and absolute paths. */
export interface KubeContext {
  readonly server: URL;
  readonly cluster: KubeconfigCluster;
  /** Empty: anonymous. */
  readonly user: KubeconfigUser;
}

/** The members that are ours to read; the library reads the others. */
export interface KubeconfigCluster {
  'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly server?: string;
  readonly 'proxy-url'?: string | undefined;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

export interface KubeconfigUser {
  'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  'client-key'?: string;
  tokenFile?: string;
  readonly token?: string;
  readonly username?: string;
  readonly as?: string | undefined;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: string[];
  readonly 'as-user-extra'?: Readonly<Record<string, string[]>>;
  readonly exec?: ExecConfig | null;
}

/** A credential plugin. */
export interface ExecConfig {
  command: string;
  readonly apiVersion?: string;
  readonly installHint?: string;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly Named<'context', { readonly cluster?: string; readonly user?: string }>[];
  readonly clusters?: readonly Named<'cluster', KubeconfigCluster>[];
  readonly users?: readonly Named<'user', KubeconfigUser>[];
}

type Named<M extends string, T> = { readonly name?: string } & { readonly [member in M]?: T };

/**
 * Reads files as kubectl merges them: the first one that sets a value or a name wins, missing files and empty ones do
 * not count, and entries that the context does not name need not be right. The library's own `mergeConfig` takes the
 * last context and throws at equal names, and its types drop `tokenFile`, `as-groups`, `as-uid` and `as-user-extra`.
 * @throws SvcError KUBE_CONFIG (exit 78)
 */
export async function readKubeconfig(paths: readonly string[]): Promise<KubeContext> {
  const origin = paths.join(':');
  const files = (await Promise.all(paths.map(readOne))).filter((file) => file !== undefined);
  if (files.length === 0) throw unusable(`Cannot read the kubeconfig ${origin}: no such file`);
  const current = files.map((file) => file['current-context']).find(Boolean);
  const context = named(files, 'contexts', current)?.context;
  const cluster = named(files, 'clusters', context?.cluster)?.cluster;
  const server = URL.parse(cluster?.server ?? '');
  if (!context || !cluster || !server)
    throw unusable(`The kubeconfig ${origin} names no cluster in its current context`);
  if (!context.user) return { server, cluster, user: {} };
  const found = named(files, 'users', context.user);
  if (found === undefined) throw unusable(`The kubeconfig ${origin} has no user for its current context`);
  return { server, cluster, user: found.user ?? {} };
}

function named<L extends 'contexts' | 'clusters' | 'users'>(
  files: readonly Kubeconfig[],
  list: L,
  name: string | undefined,
): NonNullable<Kubeconfig[L]>[number] | undefined {
  type Entry = NonNullable<Kubeconfig[L]>[number];
  return files
    .flatMap((file) => (file[list] ?? []) as readonly Entry[])
    .find((entry) => entry?.name === name);
}

/** Undefined for a missing file. */
async function readOne(path: string): Promise<Kubeconfig | undefined> {
  const { parse } = await import('yaml');
  try {
    // messages of the parser may quote secrets
    const file = parse(await readFile(path, 'utf8'), { prettyErrors: false, logLevel: 'error' }) ?? {};
    makeAbsolute(file, dirname(path));
    return file;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw unusable(`Cannot read the kubeconfig ${path}: ${code ?? 'it is no kubeconfig'}`, cause);
  }
}

function makeAbsolute({ clusters, users }: Kubeconfig, folder: string): void {
  for (const entry of clusters ?? []) absolutize(entry?.cluster, ['certificate-authority'], folder);
  for (const { user } of users ?? []) {
    absolutize(user, ['client-certificate', 'client-key', 'tokenFile'], folder);
    // a name without a slash is looked for in PATH
    if (user?.exec?.command?.includes('/')) absolutize(user.exec, ['command'], folder);
  }
}

function absolutize<K extends string>(
  owner: { [member in K]?: string } | null | undefined,
  members: readonly K[],
  folder: string,
): void {
  for (const member of members) {
    const path = owner?.[member];
    if (owner && path) owner[member] = resolve(folder, path);
  }
}

function unusable(message: string, cause?: unknown): SvcError {
  return new SvcError('KUBE_CONFIG', message, {
    cause,
    exitStatus: exitStatus.config,
    nextStep: 'Check KUBECONFIG with kubectl config view.',
  });
}
