import { certificateErrorCode } from '../../../core/certificate-errors.ts';
import { checkStatus } from '../../../core/checks/contract.ts';
import { SvcError } from '../../../core/errors.ts';

/** Of an error of the AWS SDK; undefined where no answer came. */
export function httpStatusOf(error: unknown): number | undefined {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

export interface Place {
  readonly host: string;
  readonly bucket: string;
  /** Where the progress is kept. */
  readonly resume: string | undefined;
}

/**
 * Names what is missing, as far as the store says it. "Could not be evaluated", but for a
 * certificate that is not accepted: that is configuration.
 */
export function storeFailure(error: unknown, { host, bucket, resume }: Place): SvcError {
  const name = nameOf(error);
  const certificate = certificateErrorCode(error);
  if (certificate !== undefined) {
    const message = `The certificate of the object store ${host} is not accepted (${certificate})`;
    return new SvcError('CONFIG_INVALID', message, {
      nextStep:
        'Give the authority of its certificate by AWS_CA_BUNDLE, and the name that stands in it by --upstream.',
      exitStatus: checkStatus.usage,
      cause: error,
    });
  }
  const [code, message, step] = described(httpStatusOf(error), name, host, bucket);
  const again = resume === undefined ? 'then run it again.' : `then run it again; it goes on from ${resume}.`;
  return new SvcError(code, message, {
    nextStep: `${step} ${again}`,
    exitStatus: checkStatus.notEvaluated,
    cause: error,
  });
}

/** Errors of the system have all the same name and a code of their own. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

function described(status: number | undefined, name: string, host: string, bucket: string) {
  if (status === 403 || status === 401)
    return [
      'AUDIT_DENIED',
      `The object store ${host} does not let the audit read bucket ${bucket} (${name})`,
      `Allow s3:ListBucket on the bucket and s3:GetObject on its objects,`,
    ] as const;
  if (status === 404)
    return [
      'AUDIT_NO_BUCKET',
      `The object store ${host} has no bucket ${bucket}`,
      'Check its name,',
    ] as const;
  return [
    'AUDIT_STORE_FAILED',
    `The object store ${host} failed or could not be reached (${name})`,
    'Check --upstream, and that credentials can be found,',
  ] as const;
}
