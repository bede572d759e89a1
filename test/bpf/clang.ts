import { fileURLToPath } from 'node:url';
import { runCommand } from '../support/run-command.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';
import type { CommandResult } from '../support/types.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const compiler = 'clang-19';

/** Runs the compiler in the package's folder. @throws ToolUnavailable without it */
export async function runClang(args: readonly string[], input = ''): Promise<CommandResult> {
  try {
    return await runCommand(compiler, args, root, { input });
  } catch (cause) {
    throw new ToolUnavailable(compiler, 'it cannot be started', { cause });
  }
}

/** @throws ToolUnavailable without clang; Error with what clang says */
export async function clang(args: readonly string[]): Promise<void> {
  const { status, stderr } = await runClang(args);
  if (status !== 0) throw new Error(`${compiler} ${args.join(' ')} failed:\n${stderr}`);
}
