import { exitStatus, SvcError } from '../../core/errors.ts';

/**
 * `REGISTRY_UNAVAILABLE` may pass by itself; `REGISTRY_DENIED`: these credentials do not do; `REGISTRY_MISSING`: there
 * is no such image, or it is hidden; `REGISTRY_REFUSED`: what came cannot be used, now or later.
 */
export type RegistryErrorCode =
  | 'REGISTRY_UNAVAILABLE'
  | 'REGISTRY_DENIED'
  | 'REGISTRY_MISSING'
  | 'REGISTRY_REFUSED';

const steps: Readonly<Record<RegistryErrorCode, string>> = {
  REGISTRY_UNAVAILABLE: 'Check that the registry can be reached from the operator, and try again.',
  REGISTRY_DENIED:
    'Give the pod or its service account a pull secret for this registry that works, or the operator credentials of its own (operator.registryCredentials): it has not those of the nodes.',
  REGISTRY_MISSING:
    'Check the name and tag, and that the pull secret of the pod, or of the operator, may read it.',
  REGISTRY_REFUSED: 'Say what the container runs: command in the pod, or the annotation svc/command.',
};

interface RegistryErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly nextStep?: string | undefined;
  /** See `RegistryError.told`. Default: false. */
  readonly told?: boolean;
  readonly cause?: unknown;
}

/** Why a registry did not say what was asked; the message is a clause without a full stop. */
export class RegistryError extends SvcError {
  declare readonly code: RegistryErrorCode;
  /** The registry asks to be left alone for that long. */
  readonly retryAfterMs: number | undefined;
  /** Whether the message shows nothing of a peer that has not proved to be a registry, so that anybody may read it. */
  readonly told: boolean;

  constructor(code: RegistryErrorCode, message: string, options: RegistryErrorOptions = {}) {
    const { retryAfterMs, nextStep = steps[code], told = false, cause } = options;
    super(code, message, { nextStep, exitStatus: exitStatus.unavailable, cause });
    this.retryAfterMs = retryAfterMs;
    this.told = told;
  }
}

export function hasCode(error: unknown, ...codes: readonly RegistryErrorCode[]): error is RegistryError {
  return error instanceof RegistryError && codes.includes(error.code);
}
