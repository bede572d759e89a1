import { exitStatus, SvcError } from '../../core/errors.ts';
import type { VaultFailure } from './contract.ts';

export interface VaultErrorOptions {
  readonly nextStep?: string;
  /** HTTP status of the last answer. */
  readonly status?: number | undefined;
  /** Path below `/v1/`. */
  readonly path?: string | undefined;
  /** Position of the bad item in a list of items. */
  readonly index?: number | undefined;
  /** Default: that of the kind. */
  readonly exitStatus?: number;
  /** Default: that of the kind. */
  readonly code?: string;
  readonly cause?: unknown;
}

/** A call to the key server that failed, or a login. Never carries a token or a key. */
export class VaultError extends SvcError {
  readonly kind: VaultFailure;
  readonly status: number | undefined;
  readonly path: string | undefined;
  readonly index: number | undefined;

  constructor(kind: VaultFailure, message: string, options: VaultErrorOptions = {}) {
    const facts = kinds[kind];
    super(options.code ?? facts.code, message, {
      nextStep: options.nextStep ?? facts.nextStep,
      exitStatus: options.exitStatus ?? facts.exitStatus,
      cause: options.cause,
    });
    this.kind = kind;
    this.status = options.status;
    this.path = options.path;
    this.index = options.index;
  }
}

const kinds: Readonly<Record<VaultFailure, { code: string; exitStatus: number; nextStep: string }>> = {
  unavailable: {
    code: 'VAULT_UNAVAILABLE',
    exitStatus: exitStatus.unavailable,
    nextStep: 'Check that the key server runs, is unsealed and can be reached at VAULT_ADDR.',
  },
  denied: {
    code: 'VAULT_DENIED',
    exitStatus: exitStatus.denied,
    nextStep: 'Check the policies and the role of the token.',
  },
  rejected: {
    code: 'VAULT_REJECTED',
    exitStatus: exitStatus.internal,
    nextStep: 'Check that the value was written under this key and has not been changed.',
  },
  'expired-version': {
    code: 'VAULT_KEY_VERSION_EXPIRED',
    exitStatus: exitStatus.internal,
    nextStep:
      'Lower min_decryption_version of the transit key, or restore a copy wrapped by a newer version.',
  },
  'not-found': {
    code: 'VAULT_NOT_FOUND',
    exitStatus: exitStatus.config,
    nextStep: 'Check the mount and the name: the path does not exist on the key server.',
  },
};

/** A certificate that is not trusted, or that the server does not take: nobody is there to talk to until that is changed. */
export const certificateCode = 'VAULT_CERTIFICATE';

/** Whether another attempt may succeed with the configuration as it is. */
export const mayPass = (error: unknown): boolean =>
  isVaultError(error) && error.kind === 'unavailable' && error.code !== certificateCode;

export const isVaultError = (error: unknown): error is VaultError => error instanceof VaultError;
