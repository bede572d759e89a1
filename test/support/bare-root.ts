import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from './temporary.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import type { CommandResult } from './types.ts';

export interface BareRoot {
  readonly path: string;
  /** Runs a command in it, with exactly this environment, as root or as user and group 65534. */
  run(
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
    asNobody?: boolean,
  ): Promise<CommandResult>;
  remove(): Promise<void>;
}

const ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$@"';

/**
 * A root file system with nothing in it but a static busybox, an empty /tmp, /proc and what is copied into it.
 * @param busybox a static binary
 * @throws ToolUnavailable for anybody but root
 */
export function bareRoot(busybox: string, copies: Readonly<Record<string, string>>): BareRoot {
  if (process.getuid?.() !== 0) throw new ToolUnavailable('chroot', 'not root');
  const folder = temporaryFolder('root');
  const inside = (path: string) => join(folder.path, path);
  chmodSync(folder.path, 0o755);
  for (const name of ['bin', 'proc', 'tmp']) mkdirSync(inside(name));
  cpSync(busybox, inside('bin/busybox'));
  for (const [target, source] of Object.entries(copies)) cpSync(source, inside(target), { recursive: true });
  return {
    path: folder.path,
    remove: folder.remove,
    run(command, env = {}, asNobody = false) {
      const user = asNobody ? ['--userspec=65534:65534', '--groups='] : [];
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const inner = ['/bin/busybox', 'env', '-i', ...variables, ...command];
      // unshare: its own mounts go with it
      const args = ['--mount', 'sh', '-c', ENTER, folder.path, ...user, folder.path, ...inner];
      return runCommand('unshare', args, '/');
    },
  };
}
