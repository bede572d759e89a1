import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import type { CertificateAuthority } from './certificates.ts';
import { type HttpCall, http } from './http.ts';
import { type Content, type Image, type ImageOptions, makeImage } from './registry-images.ts';
import { runCommand } from './run-command.ts';
import { type Server, startServer } from './server.ts';
import { temporaryFolder } from './temporary.ts';
import type { HttpResult } from './types.ts';

export interface RegistryOptions {
  /** Whoever is no user of it gets nothing. Default: open to anybody. */
  readonly users?: boolean;
  /** Serve HTTPS with a certificate of this authority. */
  readonly authority?: CertificateAuthority;
  /** Where it keeps images, as its configuration says it. Default: on disk. */
  readonly storage?: Readonly<Record<string, unknown>>;
}

/** The users of a registry that has any: names and passwords. */
export const registryUsers = { alice: 'alice-password', bob: 'bob-password' } as const;

/** Their bcrypt hashes, of the lowest cost. */
const htpasswd = [
  'alice:$2y$04$DnmkwBx9RnqZoTuAH5Nw7.UKsANkX48vfKkCrXPGPpkfxFQfoVS3a',
  'bob:$2y$04$FNhPWem65hFnd5PBRV8YtOaFwjdaeO6Ev9UZ3ITjPsG4q7vC2AnFC',
];

/** A real registry (docker-registry). */
export interface Registry extends Server {
  /** `127.0.0.1:PORT`, as an image reference has it. */
  readonly host: string;
  /** Pushes an image of one platform; returns it. */
  push(repository: string, tag: string, options?: ImageOptions): Promise<Image>;
  /** Pushes blobs and manifest under its digest alone. */
  pushImage(repository: string, image: Image): Promise<void>;
  /** A manifest or index, under a tag or its digest. */
  pushManifest(repository: string, reference: string, content: Content): Promise<void>;
  /** Makes an image with umoci and copies it here with skopeo. */
  build(repository: string, tag: string, options: BuildOptions): Promise<void>;
}

export interface BuildOptions {
  /** Default: as umoci made it, OCI. */
  readonly format?: 'oci' | 'v2s1' | 'v2s2';
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly user: string;
}

/** @throws ToolUnavailable where it cannot be had */
export async function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  const { bins } = await requireTool('docker-registry');
  const folder = temporaryFolder('registry');
  const { users = false, authority, storage } = options;
  const ca = authority?.cert;
  const configure = configurer(folder.path, users, authority, storage);
  const server = await startServer({
    name: 'docker-registry',
    command: bins['docker-registry'] as string,
    args: (port) => ['serve', configure(port)],
    env: { OTEL_TRACES_EXPORTER: 'none' },
    folder: folder.path,
    scheme: authority ? 'https' : 'http',
    ready: async (url) => (await http(`${url}/v2/`, { ca })).status === (users ? 401 : 200),
  });
  const host = `127.0.0.1:${server.port}`;
  const call = async (path: string, request: HttpCall) => {
    const answer = await http(`${server.url}${path}`, {
      ...{ ...request, ca },
      headers: { ...request.headers, ...(users && { authorization: basic('alice') }) },
    });
    if (answer.status >= 300) throw new Error(`registry: ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const pushManifest: Registry['pushManifest'] = async (repository, reference, { bytes, mediaType }) => {
    const headers = { 'content-type': mediaType };
    await call(`/v2/${repository}/manifests/${reference}`, { method: 'PUT', body: bytes, headers });
  };
  const pushImage: Registry['pushImage'] = async (repository, { manifest, blobs }) => {
    for (const blob of blobs) await pushBlob(call, repository, blob);
    await pushManifest(repository, manifest.digest, manifest);
  };
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    host,
    ...{ pushManifest, pushImage },
    async push(repository, tag, imageOptions) {
      const image = makeImage(imageOptions);
      await pushImage(repository, image);
      await pushManifest(repository, tag, image.manifest);
      return image;
    },
    build: (repository, tag, build) =>
      buildImage(folder.path, `docker://${host}/${repository}:${tag}`, users, build),
    async stop() {
      await server.stop();
      await folder.remove();
    },
  };
}

/** Yields what writes the configuration for a port and returns its path. */
function configurer(
  folder: string,
  users: boolean,
  authority: CertificateAuthority | undefined,
  storage: RegistryOptions['storage'],
) {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const identity = authority?.issue({ commonName: 'registry' });
  const tls = identity && {
    certificate: write('tls.crt', identity.cert),
    key: write('tls.key', identity.key),
  };
  const auth = { htpasswd: { realm: 'registry', path: write('htpasswd', htpasswd.join('\n')) } };
  mkdirSync(join(folder, 'data'));
  const common = {
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: storage ?? { filesystem: { rootdirectory: join(folder, 'data') } },
    compatibility: { schema1: { enabled: true } },
    ...(users && { auth }),
  };
  return (port: number) => {
    const listening = { addr: `127.0.0.1:${port}`, ...(tls && { tls }) };
    // JSON is YAML, too
    return write('config.yml', JSON.stringify({ ...common, http: listening }));
  };
}

type Call = (path: string, request: HttpCall) => Promise<HttpResult>;

async function pushBlob(call: Call, repository: string, { bytes, digest }: Content): Promise<void> {
  const { headers } = await call(`/v2/${repository}/blobs/uploads/`, { method: 'POST' });
  const { pathname, searchParams } = new URL(headers.location ?? '', 'http://registry');
  searchParams.set('digest', digest);
  const type = { 'content-type': 'application/octet-stream' };
  await call(`${pathname}?${searchParams}`, { method: 'PUT', body: bytes, headers: type });
}

export function basic(user: keyof typeof registryUsers): string {
  return `Basic ${Buffer.from(`${user}:${registryUsers[user]}`).toString('base64')}`;
}

async function buildImage(
  folder: string,
  target: string,
  users: boolean,
  build: BuildOptions,
): Promise<void> {
  const { bins: umoci } = await requireTool('umoci');
  const { bins: skopeo } = await requireTool('skopeo');
  const layout = join(folder, `layout-${Math.random().toString(36).slice(2)}`);
  const run = async (command: string | undefined, args: readonly string[]) => {
    const { status, stderr } = await runCommand(command as string, args, folder);
    if (status !== 0) throw new Error(`${command} ${args[0]}: ${stderr}`);
  };
  const image = `${layout}:latest`;
  await run(umoci['umoci'], ['init', '--layout', layout]);
  await run(umoci['umoci'], ['new', '--image', image]);
  const words = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
  const { entrypoint, cmd, user, format } = build;
  const config = [...words('--config.entrypoint', entrypoint), ...words('--config.cmd', cmd)];
  await run(umoci['umoci'], ['config', '--image', image, ...config, '--config.user', user]);
  const login = users ? ['--dest-creds', `alice:${registryUsers.alice}`] : [];
  const shape = format === undefined ? [] : ['--format', format];
  const copy = ['--insecure-policy', 'copy', '--dest-tls-verify=false', ...login, ...shape];
  await run(skopeo['skopeo'], [...copy, `oci:${image}`, target]);
}
