/** An answer of the S3 API: `code` as S3 documents it, `status` the HTTP status. Messages carry no data and no secrets. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: string;
  readonly status: number;
  /** Further elements of the error body, such as `Key` or `ArgumentName`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: string,
    status: number,
    message: string,
    options: { details?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.details = options.details ?? {};
  }
}
