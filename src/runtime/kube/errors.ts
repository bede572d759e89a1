import { exitStatus, SvcError, type SvcErrorOptions } from '../../core/errors.ts';

/**
 * `KUBE_UNAVAILABLE` may pass by itself; `KUBE_GONE`: the API server no longer knows that resource version;
 * `KUBE_PROTOCOL`: what came is not what the API promises; `KUBE_NOT_LEADING`: it was not sent.
 */
export type KubeErrorCode =
  | 'KUBE_UNAVAILABLE'
  | 'KUBE_DENIED'
  | 'KUBE_GONE'
  | 'KUBE_NOT_FOUND'
  | 'KUBE_CONFLICT'
  | 'KUBE_REFUSED'
  | 'KUBE_NOT_LEADING'
  | 'KUBE_PROTOCOL';

const steps: Readonly<Record<KubeErrorCode, string>> = {
  KUBE_UNAVAILABLE: 'It is tried again; check that the API server can be reached from here.',
  KUBE_DENIED: 'Check that the service account is bound to the role that this component needs.',
  KUBE_GONE: 'The objects are listed anew.',
  KUBE_NOT_FOUND: 'Check the name, and that the custom resources are installed.',
  KUBE_CONFLICT: 'Read the object again and repeat the change.',
  KUBE_REFUSED: 'Read what the API server says about the request.',
  KUBE_NOT_LEADING: 'The replica that leads now makes the change.',
  KUBE_PROTOCOL: 'Check that the address is that of a Kubernetes API server.',
};

interface KubeErrorOptions extends Partial<SvcErrorOptions> {
  /** HTTP status, or the code of a Status object within a watch. */
  readonly status?: number | undefined;
  /** Reason of a Status object, such as `AlreadyExists`. */
  readonly reason?: string | undefined;
  /** The API server asks to be left alone for that long. */
  readonly retryAfterMs?: number | undefined;
}

/** A request that the API server did not carry out. */
export class KubeError extends SvcError {
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions = {}) {
    const { status, reason, retryAfterMs, ...rest } = options;
    super(code, message, { nextStep: steps[code], exitStatus: statusFor(code), ...rest });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

function statusFor(code: KubeErrorCode): number {
  return code === 'KUBE_DENIED' ? exitStatus.denied : exitStatus.unavailable;
}

export function hasCode(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && codes.some((code) => code === error.code);
}
