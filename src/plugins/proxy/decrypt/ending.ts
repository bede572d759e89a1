import { certificateErrorCode, exitStatus, SvcError } from '../../../core/errors.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { isVaultError } from '../../../runtime/vault/contract.ts';
import { TargetRefused } from './target.ts';

/** Codes and next steps, by what cannot be had. */
const failures = {
  decrypt: [
    'DECRYPT_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again, and it goes on.',
  ],
  rehearse: [
    'REHEARSAL_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again.',
  ],
  target: [
    'DECRYPT_TARGET_FAILED',
    'Check --to, --to-upstream, and that the credentials for it may read and write its objects; then run it again, and it goes on.',
  ],
  migrate: [
    'MIGRATE_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects, their tags and ACLs; then run it again, and it goes on.',
  ],
  rewrap: [
    'REWRAP_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects; then run it again.',
  ],
} as const;

/** Why a run did not get to its end: an error that says so itself, or what is wrong with the store. */
export function endOf(
  error: unknown,
  of: Exclude<keyof typeof failures, 'target'>,
  host: string,
  bucket: string,
): Error {
  if (error instanceof SvcError || isVaultError(error)) return error;
  return error instanceof TargetRefused
    ? storeFailure(error, 'target', error.place.host, error.place.bucket)
    : storeFailure(error, of, host, bucket);
}

function storeFailure(error: unknown, of: keyof typeof failures, host: string, bucket: string): SvcError {
  const certificate = certificateErrorCode(error);
  const name =
    certificate ?? (error instanceof S3Error ? error.code : error instanceof Error ? error.name : 'unknown');
  const [code, nextStep] = failures[of];
  return new SvcError(
    code,
    `The object store ${host} refused bucket ${bucket} or could not be reached (${name})`,
    {
      nextStep,
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause: error,
    },
  );
}
