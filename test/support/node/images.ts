import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { requireTool } from '../../testbed/ensure.ts';
import type { ToolName } from '../../testbed/types.ts';
import { dockerTarget } from '../dockerfile.ts';
import { packageRoot } from '../image.ts';
import type { Registry } from '../registry.ts';
import type { ImageOptions } from '../registry-images.ts';
import { makeWrapperRoot } from '../wrapper-root.ts';

/** The version that the chart expects. */
export const SVC_TAG = '0.1.0';
export const APPLICATION = { repository: 'shop', tag: '7' } as const;

/** What a container that does nothing is: it takes the ends of others in a pod that shares its processes. */
const PAUSE = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait; done';

/**
 * A shop that says who it is, and how long and of which digest its password is, then serves /www on the port behind
 * `--port`. The process that serves is the one that has the secrets.
 */
const SHOP = `#!/bin/sh
[ "$1" = --port ] && port=$2
digest() { printf %s "$1" | sha256sum | cut -c 1-64; }
echo "shop user=$(digest "$USER_NAME$user$DB_USER") password=$(digest "$password$DB_PASSWORD") id=$(id -u):$(id -g)"
exec /bin/busybox httpd -f -v -p "\${port:-8000}" -h /www
`;
const APPLETS = ['sh', 'cat', 'cut', 'env', 'head', 'id', 'ls', 'nc', 'ps', 'printf', 'sha256sum', 'sleep'];
const MORE_APPLETS = [
  'tar',
  'tr',
  'touch',
  'tee',
  'wget',
  'mount',
  'nsenter',
  'nslookup',
  'grep',
  'pidof',
  'rm',
  'mkdir',
];

/**
 * Pushes what nodes pull: the images of svc, as manifests/Dockerfile describes them, that of pods that wait, a name
 * server, and an application.
 * @param folder where their roots are put together
 */
export async function pushImages(registry: Registry, folder: string): Promise<void> {
  const [busybox, libbpf, coredns] = await Promise.all(
    (['busybox', 'libbpf', 'coredns'] as const).map(async (name) => {
      const { bins } = await requireTool(name);
      return bins[name === 'libbpf' ? 'libbpf.so.1' : name] as string;
    }),
  );
  const root = (name: string) => join(folder, `image-${name}`);
  const push = (repository: string, tag: string, from: string, options: ImageOptions) =>
    registry.push(repository, tag, { ...options, tar: archive(from), level: 0 });
  const svc = (name: string, from: string) => {
    const { entrypoint, cmd, user, env } = dockerTarget(name);
    return push(`svc/${name}`, SVC_TAG, from, { entrypoint, cmd, user, env });
  };
  await packageRoot(root('svc'), [libbpf as string]);
  mkdirSync(join(root('svc'), 'tmp'), { mode: 0o777 });
  for (const name of ['operator', 'agent', 'proxy']) await svc(name, root('svc'));
  makeWrapperRoot(root('wrapper'));
  await svc('wrapper', root('wrapper'));
  withBusybox(root('shop'), busybox as string);
  write(join(root('shop'), 'usr/bin/shop'), SHOP, 0o755);
  write(join(root('shop'), 'www/index.html'), 'open\n', 0o644);
  const { repository, tag } = APPLICATION;
  await push(repository, tag, root('shop'), { entrypoint: ['/usr/bin/shop'] });
  await push('pause', '1', root('shop'), { entrypoint: ['/bin/sh', '-c', PAUSE], user: '65535:65535' });
  mkdirSync(root('coredns'));
  copyFileSync(coredns as string, join(root('coredns'), 'coredns'));
  await push('coredns', '1', root('coredns'), { entrypoint: ['/coredns'] });
}

/**
 * Pushes an image with a shell and a tool of the test bed, which has to be a static program, in its PATH.
 * @param folder where its root is put together
 */
export async function pushApplication(
  registry: Registry,
  folder: string,
  { repository, tag }: { readonly repository: string; readonly tag: string },
  tool: ToolName,
): Promise<void> {
  const [busybox, program] = await Promise.all(
    (['busybox', tool] as const).map(async (name) => (await requireTool(name)).bins[name] as string),
  );
  const root = join(folder, `image-${repository}`);
  withBusybox(root, busybox as string);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  copyFileSync(program as string, join(root, 'usr/bin', tool));
  chmodSync(join(root, 'usr/bin', tool), 0o755);
  await registry.push(repository, tag, { tar: archive(root), level: 0, entrypoint: ['/bin/sh'] });
}

function withBusybox(root: string, busybox: string): void {
  mkdirSync(join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'tmp'), { mode: 0o777 });
  chmodSync(join(root, 'tmp'), 0o1777);
  copyFileSync(busybox, join(root, 'bin/busybox'));
  chmodSync(join(root, 'bin/busybox'), 0o755);
  for (const name of [...APPLETS, ...MORE_APPLETS]) symlinkSync('busybox', join(root, 'bin', name));
  write(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n', 0o644);
}

function write(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** The files of a folder as a layer. */
export function archive(root: string): Buffer {
  const args = [
    '--create',
    '--numeric-owner',
    '--owner=0',
    '--group=0',
    '--sort=name',
    '--directory',
    root,
    '.',
  ];
  const { status, stdout, stderr } = spawnSync('tar', args, { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return stdout;
}
