import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { hasCapability } from '../../../src/runtime/native/own-process.ts';
import { bundledProgram } from '../../support/bundled-program.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { ToolUnavailable } from '../../support/tool-unavailable.ts';

const ordinaryUser = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--bounding-set=-all'];

export interface FixtureOptions {
  args?: readonly string[];
  /** Uid 65534 without any capability, instead of this process's user. */
  ordinary?: boolean;
  /** Only where this process has CAP_IPC_LOCK. */
  privileged?: boolean;
  /** The memory-lock limit in bytes. */
  memlock?: number;
  env?: Record<string, string>;
  /** Put in front of the command, such as `unshare …`. */
  under?: readonly string[];
  /** Descriptors that the child gets as 3, 4, … */
  descriptors?: readonly number[];
}

export interface FixtureResult {
  status: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  /** What the program printed, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each fixture has its own shape
  json: any;
}

/**
 * Runs fixtures/<name>.ts to its end.
 * @throws ToolUnavailable where another user or limit cannot be had
 */
export function runFixture(name: string, options: FixtureOptions = {}): FixtureResult {
  const file = bundledProgram(new URL(`./fixtures/${name}.ts`, import.meta.url));
  const prefix = [
    ...limited(options.memlock),
    ...(options.ordinary ? ordinaryUser : []),
    ...(options.under ?? []),
  ];
  if (options.privileged && !hasCapability('ipc_lock')) {
    throw new ToolUnavailable('CAP_IPC_LOCK', 'the tests run without it');
  }
  if (prefix.length > 0) checkPrefix(prefix, file);
  const command = [...prefix, process.execPath, '--expose-gc', file, ...(options.args ?? [])];
  return toResult(run(command, options));
}

function limited(memlock: number | undefined): string[] {
  return memlock === undefined ? [] : ['prlimit', `--memlock=${memlock}`];
}

function checkPrefix(prefix: readonly string[], file: string): void {
  const { status, error, stderr } = run([...prefix, 'test', '-r', file], {});
  if (status === 0) return;
  throw new ToolUnavailable(
    prefix.join(' '),
    error?.message ?? (stderr || 'that user cannot read the programs'),
  );
}

function run([command = '', ...args]: readonly string[], options: FixtureOptions): SpawnSyncReturns<string> {
  return spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 60_000,
    env: cleanEnv(options.env),
    stdio: ['ignore', 'pipe', 'pipe', ...(options.descriptors ?? [])],
  });
}

function toResult({ status, signal, stdout, stderr }: SpawnSyncReturns<string>): FixtureResult {
  const output = stdout + stderr;
  try {
    return { status, signal, output, json: JSON.parse(stdout) };
  } catch {
    return { status, signal, output, json: undefined };
  }
}
