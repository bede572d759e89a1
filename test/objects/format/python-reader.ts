import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { CommandResult } from '../../support/types.ts';
import { requireTool } from '../../testbed/ensure.ts';

export const formatScript = (name: string): string =>
  fileURLToPath(new URL(`../../../docs/format/${name}`, import.meta.url));

/** Runs docs/format/read.py with the one package that it takes. */
export async function readByPython(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const { bins } = await requireTool('cryptography');
  return runCommand(bins['python'] as string, ['-B', formatScript('read.py'), ...args], '/', { env });
}

/** The same for many lists of arguments, one after the other, with one start of Python for all. */
export async function readManyByPython(
  runs: readonly (readonly string[])[],
): Promise<readonly Pick<CommandResult, 'status' | 'stderr'>[]> {
  const { bins } = await requireTool('cryptography');
  const program = fileURLToPath(new URL('read-many.py', import.meta.url));
  const args = ['-B', program, formatScript('read.py')];
  const { status, stdout, stderr } = await runCommand(bins['python'] as string, args, '/', {
    input: JSON.stringify(runs),
  });
  if (status !== 0) throw new Error(`read-many.py: ${status} ${stderr}`);
  return JSON.parse(stdout);
}

/** Every file below a folder with its content; none where the folder is not there. */
export function filesBelow(folder: string): ReadonlyMap<string, Buffer> {
  const names = statSync(folder, { throwIfNoEntry: false })
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [];
  const files = names.filter((name) => statSync(join(folder, name)).isFile()).sort();
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
}
