import { inspect } from 'node:util';

interface AssertionLike {
  details?: unknown;
  operator?: unknown;
}

/** The error as a person wants to read it: message, uvu's difference, stack without the runner's own lines, causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${inspect(error)}`;
  const { details } = error as AssertionLike;
  const { message, frames } = splitStack(error);
  const difference = typeof details === 'string' && details ? `\n${details.trimEnd()}` : '';
  const cause = error.cause === undefined ? '' : `\ncaused by ${describeError(error.cause)}`;
  return `${message}${difference}${frames}${cause}`;
}

function splitStack(error: Error): { message: string; frames: string } {
  const lines = (error.stack ?? '').split('\n');
  const frames = lines.filter(
    (line) =>
      /^\s+at /.test(line) && !/node:internal|\/test\/runner\/(suite-report|uvu-api|child)\.ts/.test(line),
  );
  return { message: `${error.name}: ${error.message}`, frames: frames.map((line) => `\n${line}`).join('') };
}

/** The reason to skip when the error says that a tool cannot be had on this machine. */
export function unavailableTool(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'ToolUnavailable') return undefined;
  const { tool, reason } = error as Error & { tool?: string; reason?: string };
  return tool ? `${tool}: ${reason ?? error.message}` : error.message;
}
