import type { GrpcStatus } from '../../core/grpc/status.ts';

/** A call that was not answered with OK. The message is the server's or says what went wrong on the way. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: GrpcStatus;

  constructor(status: GrpcStatus, message: string, options?: ErrorOptions) {
    super(message === '' ? status : `${status}: ${message}`, options);
    this.status = status;
  }
}
