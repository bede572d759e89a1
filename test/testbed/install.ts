import { TEST_TOOLS, toolsNamed } from './catalog.ts';
import { ensureTool } from './ensure.ts';
import type { ToolName } from './types.ts';
import type { UnavailableTool } from './unavailable.ts';

/** Installs one tool after the other and prints a line for each; returns the exit status. */
async function main(words: readonly string[]): Promise<number> {
  let status = 0;
  for (const name of words.length > 0 ? toolsNamed(words) : TEST_TOOLS) {
    if (!(await report(name))) status = 1;
  }
  return status;
}

async function report(name: ToolName): Promise<boolean> {
  const result = await ensureTool(name);
  if (!result.available) {
    process.stdout.write(`${name}: unavailable: ${result.reason}\n`);
    process.send?.({ unavailable: name, reason: result.reason } satisfies UnavailableTool);
    return false;
  }
  const { version, bins } = result.tool;
  process.stdout.write(`${name} ${version}: ${Object.values(bins).join(' ')}\n`);
  return true;
}

process.exitCode = await main(process.argv.slice(2));
process.disconnect?.();
