import { unaryCall } from '../../../runtime/grpc/unary-call.ts';
import { retry } from '../../../runtime/lifecycle/retry.ts';
import { agentError, isRetryable } from './failures.ts';

export interface AgentCallOptions {
  /** Path of the agent's socket; a leading NUL means the abstract namespace. */
  readonly socketPath: string;
  /** How long to go on asking an agent that is away or not ready, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called before each further attempt, with why the last one failed. */
  readonly onRetry?: (error: unknown, delayMs: number) => void;
}

/** One attempt never takes longer: an agent that hangs may have been replaced behind the same path. */
const attemptMs = 5_000;

/**
 * Asks until there is an answer or the time is up.
 * @throws SvcError of `agentError`; the signal's reason
 */
export async function callAgent(
  method: 'Register' | 'Report',
  request: Uint8Array,
  { socketPath, timeoutMs, signal, onRetry }: AgentCallOptions,
): Promise<Uint8Array> {
  const end = performance.now() + timeoutMs;
  const ask = () =>
    unaryCall({
      socketPath,
      method: `/svc.agent.v1.NodeAgent/${method}`,
      request,
      timeoutMs: Math.max(1, Math.ceil(Math.min(attemptMs, end - performance.now()))),
      signal,
    });
  try {
    return await retry(ask, {
      initialMs: 20,
      maxMs: 1_000,
      maxElapsedMs: timeoutMs,
      isRetryable,
      ...(signal && { signal }),
      ...(onRetry && { onRetry }),
    });
  } catch (error) {
    throw agentError(error, socketPath);
  }
}
