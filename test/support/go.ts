import { fileURLToPath } from 'node:url';
import { runCommand } from './run-command.ts';
import { ToolUnavailable } from './tool-unavailable.ts';

const MODULE = fileURLToPath(new URL('../../sdk/go', import.meta.url));
const TIMEOUT_MS = 600_000;
/** The way to the module proxy, which a cleaned environment lacks. */
const PROXIES = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name));

/**
 * Runs the go command in the module of the SDK.
 * @throws Error with its output when it fails
 */
export async function go(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const added = { ...Object.fromEntries(PROXIES as [string, string][]), ...env };
  const result = await runCommand('go', args, MODULE, { env: added, timeoutMs: TIMEOUT_MS });
  const output = result.stdout + result.stderr;
  if (result.status !== 0) throw new Error(`go ${args.join(' ')} failed:\n${output}`);
  return output;
}

/** @throws ToolUnavailable without a go command that is new enough */
export async function requireGo(): Promise<void> {
  await attempt('go', () => go(['env', 'GOVERSION']));
}

/** @throws ToolUnavailable where the race detector cannot be built in, as without a C compiler */
export async function requireRaceDetector(): Promise<void> {
  await requireGo();
  await attempt('go -race', () => go(['build', '-race', 'runtime/cgo'], { CGO_ENABLED: '1' }));
}

/** @throws ToolUnavailable named `tool` when the action fails */
export async function attempt(tool: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    throw new ToolUnavailable(tool, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
