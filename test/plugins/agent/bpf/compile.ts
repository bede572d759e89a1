import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../../support/temporary.ts';
import { ToolUnavailable } from '../../../support/tool-unavailable.ts';

const compiler = 'clang-19';
const flags = ['-target', 'bpf', '-mcpu=v3', '-O2', '-g', '-Wall', '-Werror'];
/** Debian keeps asm/ there. */
const includes = ['x86_64', 'aarch64']
  .map((name) => `/usr/include/${name}-linux-gnu`)
  .filter((folder) => existsSync(folder));

let folder: string | undefined;
let compiled = 0;

/**
 * Compiles fixtures/<name>.bpf.c.
 * @returns the path of the object file, in a folder that goes with this process
 * @throws ToolUnavailable without clang
 */
export function compileFixture(
  name: string,
  defines: Readonly<Record<string, string | number>> = {},
): string {
  folder ??= temporaryFolder('bpf').path;
  compiled += 1;
  const object = join(folder, `${name}-${compiled}.o`);
  const source = fileURLToPath(new URL(`./fixtures/${name}.bpf.c`, import.meta.url));
  const given = Object.entries(defines).map(([macro, value]) => `-D${macro}=${value}`);
  runCompiler([...flags, ...includes.map((path) => `-I${path}`), ...given, '-c', source, '-o', object]);
  return object;
}

/** The object's bytes; see `compileFixture`. */
export function compiledFixture(name: string, defines?: Readonly<Record<string, string | number>>): Buffer {
  return readFileSync(compileFixture(name, defines));
}

function runCompiler(args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(compiler, args, { encoding: 'utf8', timeout: 60_000 });
  if (error !== undefined) throw new ToolUnavailable(compiler, error.message);
  if (status !== 0) throw new Error(`${compiler} fails: ${stderr}`);
}
