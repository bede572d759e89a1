import { join } from 'node:path';
import { clang } from '../bpf/clang.ts';
import { runCommand } from '../support/run-command.ts';
import type { CommandResult } from '../support/types.ts';

const flags = ['-std=gnu11', '-g', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-unused-function'];
const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

/**
 * Builds what fuzz.c gives to svc-init, with the address and the undefined-behaviour sanitizer.
 * @returns runs a number of cases; another seed makes others
 * @throws ToolUnavailable without clang
 */
export async function compileFuzz(
  folder: string,
): Promise<(cases: number, seed: number) => Promise<CommandResult>> {
  const program = join(folder, 'fuzz');
  await clang([...flags, ...sanitizers, '-o', program, 'test/init/fuzz.c']);
  return (cases, seed) => runCommand(program, [String(cases), String(seed)], folder);
}
