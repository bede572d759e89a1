import { isVaultError } from '../../../keyserver/contract.ts';
import { certificateErrorCode, exitStatus, SvcError } from '../../../runtime/errors.ts';

/** Error codes and next steps by the store that failed. */
const failures = {
  decrypt: [
    'DECRYPT_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again to resume.',
  ],
  rehearse: [
    'REHEARSAL_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again.',
  ],
  target: [
    'DECRYPT_TARGET_FAILED',
    'Check --to, --to-upstream, and that the credentials for it may read and write its objects; then run it again to resume.',
  ],
  gc: [
    'GC_STORE_FAILED',
    'Check the endpoint and that the credentials may list buckets, uploads, versions and objects; then run it again.',
  ],
  migrate: [
    'MIGRATE_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects, their tags and ACLs; then run it again to resume.',
  ],
  rewrap: [
    'REWRAP_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects; then run it again.',
  ],
} as const;

/** For a certificate that is not accepted, whatever the command. */
export const trustStep =
  'Set AWS_CA_BUNDLE to the CA that issued its certificate, and address the store by a host name of the certificate.';

interface StorePlace {
  readonly host: string;
  /** Undefined for a run over many. */
  readonly bucket?: string;
}

/**
 * The error that ended a run early: the error itself when it carries its own next step, else a failure of the store.
 */
export function endOf(error: unknown, of: keyof typeof failures, { host, bucket }: StorePlace): Error {
  if (error instanceof SvcError || isVaultError(error)) return error;
  const certificate = certificateErrorCode(error);
  const name = certificate ?? failureName(error);
  const [code, nextStep] = failures[of];
  return new SvcError(
    code,
    `The object store ${host} refused ${whatOf(bucket)} or could not be reached (${name})`,
    {
      nextStep: certificate === undefined ? nextStep : trustStep,
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause: error,
    },
  );
}

const whatOf = (bucket: string | undefined): string =>
  bucket === undefined ? 'a request' : `bucket ${bucket}`;

/** System errors and refusals share names and have their own codes. */
export function failureName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
