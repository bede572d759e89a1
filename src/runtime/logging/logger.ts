import { exitStatus, SvcError } from '../errors.ts';

export type LogFields = Readonly<
  Record<string, string | number | boolean | undefined | null | readonly string[]>
>;

/**
 * Structured log on standard error, one JSON line for each event. `event` is a stable dotted name; fields are names and
 * numbers, never secret values.
 */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields & { error?: string }): void;
  error(event: string, fields?: LogFields & { error?: string }): void;
  child(fields: LogFields): Logger;
}

/** An error as log fields: messages and codes along the chain of causes, never the error objects. */
export interface ErrorFields {
  readonly error: string;
  readonly code: string | undefined;
  readonly causes: readonly string[] | undefined;
  readonly [name: string]: string | readonly string[] | undefined;
}

const maxDepth = 5;
const maxMessage = 500;

/** Errors of libraries may contain requests, headers and bodies, so only their texts are used. */
export function describeError(error: unknown): ErrorFields {
  const causes = causesOf(error, maxDepth).map(oneLine);
  return {
    error: messageOf(error),
    code: codeOf(error),
    causes: causes.length === 0 ? undefined : causes,
  };
}

/** The stack without the message, for defects of svc. */
export function stackOf(error: unknown): readonly string[] | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined;
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.slice(0, 10).map((line) => line.trim());
}

function causesOf(error: unknown, depth: number): unknown[] {
  if (depth === 0 || !(error instanceof Error)) return [];
  const direct = error instanceof AggregateError ? error.errors.slice(0, maxDepth) : [];
  const next = error.cause === undefined ? direct : [error.cause, ...direct];
  return next.flatMap((cause) => [cause, ...causesOf(cause, depth - 1)]).slice(0, maxDepth);
}

function oneLine(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? messageOf(error) : `${messageOf(error)} (${code})`;
}

function messageOf(error: unknown): string {
  const message =
    error instanceof Error ? error.message || error.name : typeof error === 'string' ? error : typeof error;
  return message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message;
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Logs why a component ended, and returns its exit status: an SvcError's own, 70 for a defect of svc. */
export function reportFailure(log: Logger, event: string, error: unknown): number {
  if (error instanceof SvcError) {
    const details = error.details.length === 0 ? undefined : error.details;
    log.error(event, { ...describeError(error), details, nextStep: error.nextStep });
    return error.exitStatus;
  }
  log.error(event, { ...describeError(error), stack: stackOf(error) });
  return exitStatus.internal;
}
