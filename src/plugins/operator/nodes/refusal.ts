import type { GrpcStatus } from '../../../core/grpc/status.ts';

/** Why a report is not taken; the agent is told both. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: GrpcStatus;

  constructor(status: GrpcStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export const invalid = (message: string, cause?: unknown): Refusal =>
  new Refusal('INVALID_ARGUMENT', message, cause === undefined ? undefined : { cause });
