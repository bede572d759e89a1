import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../../support/run-command.ts';
import type { CommandResult } from '../../../support/types.ts';
import { requireTool } from '../../../testbed/ensure.ts';

export const formatScript = (name: string): string =>
  fileURLToPath(new URL(`../../../../docs/format/${name}`, import.meta.url));

/** Runs docs/format/read.py with the one package that it takes. */
export async function readByPython(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const { bins } = await requireTool('cryptography');
  return runCommand(bins['python'] as string, ['-B', formatScript('read.py'), ...args], '/', { env });
}

/** Every file below a folder with its content; none where the folder is not there. */
export function filesBelow(folder: string): ReadonlyMap<string, Buffer> {
  const names = statSync(folder, { throwIfNoEntry: false })
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [];
  const files = names.filter((name) => statSync(join(folder, name)).isFile()).sort();
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
}
