import { messageOf } from '../../../core/errors.ts';

/**
 * Why a report was not answered with OK. `result` is the name of a gRPC status in small letters, or
 * `tls_files`, `token_file`, `name_lookup`, `no_progress`, `internal` for what went wrong on this side.
 */
export class ReportError extends Error {
  override readonly name = 'ReportError';
  readonly result: string;

  constructor(result: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.result = result;
  }

  static from(error: unknown): ReportError {
    if (error instanceof ReportError) return error;
    return new ReportError('internal', messageOf(error), {
      cause: error,
    });
  }
}
