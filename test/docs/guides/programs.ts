import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireTool } from '../../testbed/ensure.ts';
import type { ToolName } from '../../testbed/types.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What stands where a reader types it. */
const ours = { svc: 'bin/run.js', 'svc-wrapper': 'bin/svc-wrapper.js' };

/**
 * A folder for the PATH with `svc`, `svc-wrapper` and the first program of each tool.
 * @throws ToolUnavailable where one cannot be had
 */
export async function programsIn(
  folder: string,
  tools: Readonly<Partial<Record<ToolName, string>>>,
): Promise<string> {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, file] of Object.entries(ours)) script(bin, name, [process.execPath, join(ROOT, file)]);
  symlinkSync(process.execPath, join(bin, 'node'));
  for (const [tool, name] of Object.entries(tools) as [ToolName, string][]) {
    const { bins } = await requireTool(tool);
    // kubectl is a part of the one binary that the test bed builds
    if (name === 'kubectl') script(bin, name, [bins['kubernetes'] as string, 'kubectl']);
    else symlinkSync(bins[name] as string, join(bin, name));
  }
  return bin;
}

function script(bin: string, name: string, command: readonly string[]): void {
  const words = command.map((word) => `'${word}'`).join(' ');
  writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
}

/** The work tree's own folders, as in a clone. */
export function cloneIn(folder: string, ...names: readonly string[]): void {
  for (const name of names) symlinkSync(join(ROOT, name), join(folder, name));
}
