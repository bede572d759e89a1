import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assembleImage } from '../../scripts/lib/image.mjs';
import { requireTool } from '../testbed/ensure.ts';
import { exec } from '../testbed/exec.ts';
import { type Child, launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { type DockerTarget, dockerTarget } from './dockerfile.ts';
import { reapProcess } from './reaper.ts';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from './temporary.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import type { CommandResult } from './types.ts';
import { waitFor } from './wait-for.ts';
import { makeWrapperRoot } from './wrapper-root.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface TestImage {
  readonly target: DockerTarget;
  /** Where it is unpacked. */
  readonly root: string;
  /** Runs the image's entrypoint with arguments to its end; root read-only, no capability, the host's network. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
  /** Starts it; by default with the image's own arguments. */
  start(env?: Readonly<Record<string, string>>, args?: readonly string[]): Promise<Child>;
  remove(): Promise<void>;
}

export interface ImageLayout {
  /** What more than Node has to find its shared libraries. */
  readonly libraries?: readonly string[];
  /** Its files go into a layer and come out of it, which takes seconds. Default: they lie where that would put them. */
  readonly layered?: boolean;
}

/**
 * The image of a target of manifests/Dockerfile, put together by umoci as an OCI image and unpacked, for runc.
 * As in Docker: Node, the package, entrypoint, arguments, user and variables. Not as there: instead of a Debian
 * image it has the shared libraries of this machine that Node, the package's addons and `libraries` are linked against, and no shell. That of
 * the wrapper has its folder and nothing else, as there.
 * @throws ToolUnavailable where there is no umoci or runc, or for anybody but root
 */
export async function buildImage(
  name: string,
  { libraries = [], layered = false }: ImageLayout = {},
): Promise<TestImage> {
  if (process.getuid?.() !== 0) throw new ToolUnavailable('runc', 'not root');
  const [umoci, runc] = await Promise.all([requireTool('umoci'), requireTool('runc')]);
  const target = dockerTarget(name);
  const folder = temporaryFolder('image');
  const inside = (path: string) => join(folder.path, path);
  if (name === 'wrapper') makeWrapperRoot(inside('root'));
  else await packageRoot(inside('root'), libraries);
  await pack(umoci.bins['umoci'] as string, folder.path, target, layered);
  const bundle = inside('bundle');
  const plan = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'));
  let count = 0;
  const prepare = (args: readonly string[], env: Readonly<Record<string, string>>) => {
    writeFileSync(
      join(bundle, 'config.json'),
      JSON.stringify(confine(plan, [...target.entrypoint, ...args], env)),
    );
    count += 1;
    return ['--root', inside('state'), 'run', '--bundle', bundle, `svc-test-${process.pid}-${count}`];
  };
  const program = runc.bins['runc'] as string;
  return {
    target,
    root: join(bundle, 'rootfs'),
    remove: folder.remove,
    run: (args, env = {}) => runCommand(program, prepare(args, env), folder.path),
    async start(env = {}, args = target.cmd) {
      const pidFile = inside('pid');
      const [, , , ...rest] = prepare(args, env);
      const command = ['--root', inside('state'), 'run', '--pid-file', pidFile, ...rest];
      const child = await launch(program, command, { env: cleanEnv(), cwd: folder.path });
      await waitFor('the container', () => child.ended || readPid(pidFile) !== undefined, {
        details: child.logs,
      });
      const pid = readPid(pidFile);
      if (pid !== undefined) child.exited.then(reapProcess(pid));
      return child;
    },
  };
}

/** Fills a folder with what the image of any target but the wrapper's has. */
export async function packageRoot(root: string, libraries: readonly string[] = []): Promise<void> {
  assembleImage(ROOT, root);
  await addLibraries(root, libraries);
}

function readPid(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** Copies what programs are linked against to where the loader looks. */
async function addLibraries(root: string, libraries: readonly string[]): Promise<void> {
  const addons = globSync('opt/svc/node_modules/**/*.node', { cwd: root }).map((file) => join(root, file));
  const listed = await Promise.all(
    [join(root, 'usr/local/bin/node'), ...addons, ...libraries].map((file) => exec('ldd', [file])),
  );
  const linked = listed.flatMap((text) =>
    [...text.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path),
  );
  for (const file of new Set([...linked, ...libraries])) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    copyFileSync(file, join(root, file));
  }
}

async function pack(
  umoci: string,
  folder: string,
  { entrypoint, cmd, user, env }: DockerTarget,
  layered: boolean,
): Promise<void> {
  const [layout, image] = [join(folder, 'layout'), join(folder, 'layout:latest')];
  for (const name of ['tmp', 'proc', 'sys', 'dev'])
    mkdirSync(join(folder, 'root', name), { recursive: true });
  // runc gives a mount the mode of the folder below it
  chmodSync(join(folder, 'root/tmp'), 0o1777);
  const options = [
    ...[...entrypoint].map((word) => `--config.entrypoint=${word}`),
    ...[...cmd].map((word) => `--config.cmd=${word}`),
    ...env.map((assignment) => `--config.env=${assignment}`),
    `--config.user=${user}`,
  ];
  await exec(umoci, ['init', '--layout', layout]);
  await exec(umoci, ['new', '--image', image]);
  const [root, rootfs] = [join(folder, 'root'), join(folder, 'bundle', 'rootfs')];
  if (layered) await exec(umoci, ['insert', '--image', image, root, '/']);
  await exec(umoci, ['config', '--image', image, ...options]);
  await exec(umoci, ['unpack', '--image', image, join(folder, 'bundle')]);
  if (layered) return;
  rmdirSync(rootfs);
  renameSync(root, rootfs);
}

/** What a kubelet makes of a container with the chart's security context: no capability, nothing to write but /tmp. */
// biome-ignore lint/suspicious/noExplicitAny: the runtime specification's configuration
function confine(plan: any, args: readonly string[], env: Readonly<Record<string, string>>): object {
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const tmp = {
    destination: '/tmp',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'nodev', 'size=64m'],
  };
  const namespaces = plan.linux.namespaces.filter(({ type }: { type: string }) => type !== 'network');
  return {
    ...plan,
    root: { ...plan.root, readonly: true },
    mounts: [...plan.mounts, tmp],
    process: {
      ...plan.process,
      ...{ terminal: false, args, env: [...plan.process.env, ...variables] },
      ...{ capabilities: none, noNewPrivileges: true },
    },
    linux: { ...plan.linux, namespaces },
  };
}
