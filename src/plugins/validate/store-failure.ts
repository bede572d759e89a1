import { messageOf } from '../../core/errors.ts';
import { NotEvaluated, type S3Endpoint } from './check.ts';

/** Of an error of the AWS SDK; undefined where no answer came. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** What was refused, in a few words, without what the store writes beside it. */
export function refusalOf(error: unknown): string {
  const name = error instanceof Error ? error.name : 'unknown error';
  const status = statusOf(error);
  if (status !== undefined) return `${status} ${name}`;
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (name === 'Error' ? messageOf(error) : name);
}

/**
 * Asks the store itself: what it refuses is no verdict on it.
 * @param permission such as `s3:GetObject`, needed for that
 * @throws NotEvaluated
 */
export async function askStore<T>({ host }: S3Endpoint, permission: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const denied = statusOf(error) === 403 || statusOf(error) === 401;
    const reason = `The object store ${host} answers: ${refusalOf(error)}`;
    throw new NotEvaluated(reason, denied ? permission : undefined, error);
  }
}
