import { KubeError, type KubeErrorCode } from './errors.ts';

const longestMessage = 300;
const codes: Readonly<Record<number, KubeErrorCode>> = {
  401: 'KUBE_DENIED',
  403: 'KUBE_DENIED',
  404: 'KUBE_NOT_FOUND',
  409: 'KUBE_CONFLICT',
  410: 'KUBE_GONE',
  429: 'KUBE_UNAVAILABLE',
};

/**
 * The error that an answer which is no success amounts to.
 * @param what the request, as `GET /api/v1/pods`
 * @param body a Status object as text, or whatever came
 * @param retryAfter the header of that name
 */
export function failureOf(what: string, status: number, body: string, retryAfter?: string): KubeError {
  const { message, reason, seconds } = statusObject(body);
  const wait = Number(retryAfter ?? seconds);
  return new KubeError(codeFor(status), `${what}: ${status}: ${message}`, {
    status,
    reason,
    retryAfterMs: Number.isFinite(wait) && wait > 0 ? wait * 1_000 : undefined,
  });
}

function codeFor(status: number): KubeErrorCode {
  return codes[status] ?? (status >= 500 ? 'KUBE_UNAVAILABLE' : 'KUBE_REFUSED');
}

interface StatusObject {
  readonly message: string;
  readonly reason: string | undefined;
  readonly seconds: unknown;
}

function statusObject(body: string): StatusObject {
  const { message, reason, details } = parsed(body);
  return {
    message: (typeof message === 'string' ? message : 'no Status object came with it').slice(
      0,
      longestMessage,
    ),
    reason: typeof reason === 'string' ? reason : undefined,
    seconds: (details as { retryAfterSeconds?: unknown } | undefined)?.retryAfterSeconds,
  };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
