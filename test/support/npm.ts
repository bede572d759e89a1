import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './run-command.ts';
import type { CommandResult } from './types.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NPM = join(ROOT, 'node_modules', 'npm', 'bin', 'npm-cli.js');

/** An address where nobody answers: what asks a registry by mistake fails at once. */
export const NO_REGISTRY = 'http://127.0.0.1:9/';

export interface NpmOptions {
  /** Default: none can be reached. */
  readonly registry?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the npm that this package depends on. */
export function npm(args: readonly string[], cwd: string, options: NpmOptions = {}): Promise<CommandResult> {
  return runCommand(process.execPath, [NPM, ...args], cwd, { env: npmEnv(options) });
}

/** Variables that keep npm quiet, and from other registries than the given one. */
export function npmEnv({ registry = NO_REGISTRY, env = {} }: NpmOptions = {}): Record<string, string> {
  return {
    npm_config_registry: registry,
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    ...env,
  };
}

export interface Packed {
  /** The tarball. */
  readonly file: string;
  /** Its size and that of its files, in bytes. */
  readonly size: number;
  readonly unpackedSize: number;
  /** Paths within it, sorted. */
  readonly files: readonly string[];
}

/** Makes the tarball that would be published of a folder. */
export async function npmPack(folder: string, destination: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  const { status, stdout, stderr } = await npm(args, folder);
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  const [packed] = Object.values(JSON.parse(stdout)) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  const { filename, size, unpackedSize, files } = packed;
  return {
    file: join(destination, filename),
    size,
    unpackedSize,
    files: files.map(({ path }) => path).sort(),
  };
}

/** The package.json of a folder. */
export function packageOf(folder: string): Record<string, unknown> & { name: string; version: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
