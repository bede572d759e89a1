import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, type Exit, launch } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import { JoinedOutput } from '../../../../support/joined-output.ts';
import { reapProcess } from '../../../../support/reaper.ts';
import { runCommand } from '../../../../support/run-command.ts';
import type { CommandResult } from '../../../../support/types.ts';
import { type ContainerFacts, ociConfig } from './oci-config.ts';

/** A container under runc. */
export interface ContainerRun {
  readonly name: string;
  /** Of its first process, on this machine. */
  readonly pid: number;
  /** Everything that it wrote. */
  output(): string;
  readonly ended: boolean;
  readonly exited: Promise<Exit>;
  /** Runs a command in it as probes and hooks are run: with the container's user and variables. */
  exec(command: readonly string[]): Promise<CommandResult>;
  /** To its first process. */
  signal(name: NodeJS.Signals): void;
}

export interface Runc {
  readonly program: string;
  /** Where runc and this file keep what they know. */
  readonly folder: string;
}

/** Starts it. @throws Error where runc cannot */
export async function startContainer(
  { program, folder }: Runc,
  facts: Omit<ContainerFacts, 'root'>,
): Promise<ContainerRun> {
  const { name } = facts.container;
  const id = `svc-test-${name}-${randomBytes(6).toString('hex')}`;
  const bundle = join(folder, id);
  mkdirSync(bundle);
  writeFileSync(
    join(bundle, 'config.json'),
    JSON.stringify(ociConfig({ ...facts, root: rootOf(facts, bundle) })),
  );
  const pidFile = join(bundle, 'pid');
  const state = ['--root', join(folder, 'state')];
  const output = new JoinedOutput();
  const child = await launch(program, [...state, 'run', '--pid-file', pidFile, '--bundle', bundle, id], {
    env: cleanEnv(),
    onOutput: (text, stream) => output.add(text, stream),
  });
  const pid = await startedPid(child, pidFile);
  child.exited.then(reapProcess(pid));
  return {
    ...{ name, pid, output: () => output.text, exited: child.exited },
    get ended() {
      return child.ended;
    },
    exec: (command) => runCommand(program, [...state, 'exec', id, ...command], '/'),
    signal: (signal) => kill(pid, signal),
  };
}

/** Nothing but places for mounts is written to a root that is read-only: these share it. */
function rootOf({ image, container }: Omit<ContainerFacts, 'root'>, bundle: string): string {
  if (container.securityContext?.readOnlyRootFilesystem && image.shared) return image.root;
  const root = join(bundle, 'rootfs');
  cpSync(image.root, root, { recursive: true, verbatimSymlinks: true });
  return root;
}

function startedPid(child: Child, pidFile: string): Promise<number> {
  return child.until('the container under runc', () => Number(readFileSync(pidFile, 'utf8')));
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
