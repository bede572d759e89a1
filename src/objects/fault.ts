import { isVaultError, type VaultError } from '../keyserver/contract.ts';
import { KeyServerHangs } from '../keyserver/hang-guard.ts';
import { describeError, type Logger, stackOf } from '../runtime/logging/logger.ts';
import type { ObjectMetrics } from './context.ts';
import { EnvelopeError } from './format/cipher.ts';
import { S3Error, s3Error } from './s3/error.ts';
import type { S3Request } from './s3/request.ts';

/** Converts a failure to what the caller sees. Internal causes go to the log and never to the caller. */
export function faultOf(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof EnvelopeError && error.reason === 'unencrypted') {
    return s3Error('AccessDenied', 'The object is not encrypted and may not be read through this proxy.');
  }
  if (isVaultError(error) && error.kind === 'unavailable') {
    return s3Error('ServiceUnavailable', 'The key server cannot be reached. Please retry.', { cause: error });
  }
  return s3Error('InternalError', undefined, { cause: error });
}

/** Object of a request, for the log. */
type About = Pick<S3Request, 'bucket' | 'key' | 'headers'>;

/** Logs and counts the cause of an error response that the response itself does not reveal. */
export function reportFault(error: unknown, log: Logger, metrics: ObjectMetrics, about?: About): void {
  const told = error instanceof S3Error ? innermost(error) : error;
  if (told instanceof EnvelopeError) {
    metrics.refused(told.reason);
    log.error('proxy.object.refused', { ...objectOf(about), reason: told.reason, ...describeError(told) });
  } else if (isVaultError(told)) reportVault(told, log, metrics, about);
  else if (!(error instanceof S3Error)) {
    log.error('proxy.request.broke', { ...describeError(error), stack: stackOf(error) });
  } else if (error.status >= 500 && error.status !== 501) {
    log.warn('proxy.request.failed', { s3Code: error.code, ...describeError(error) });
  }
}

/** For a copy, the refused object may be the source. */
function objectOf(about: About | undefined) {
  if (about === undefined) return {};
  const { bucket, key, headers } = about;
  const source = headers['x-amz-copy-source'];
  return { bucket, key, ...(source !== undefined && { source }) };
}

/** A key server or envelope failure may be the cause of an S3Error. */
function innermost(error: S3Error): unknown {
  const { cause } = error;
  return cause instanceof EnvelopeError || isVaultError(cause) ? cause : error;
}

function reportVault(error: VaultError, log: Logger, metrics: ObjectMetrics, about: About | undefined): void {
  if (error instanceof KeyServerHangs) return;
  const fields = { kind: error.kind, path: error.path, nextStep: error.nextStep, ...describeError(error) };
  if (error.kind === 'unavailable') return log.warn('proxy.vault.unavailable', fields);
  const ofObject = error.kind === 'rejected' || error.kind === 'expired-version';
  if (ofObject) metrics.refused(`key-${error.kind}`);
  log.error(`proxy.vault.${error.kind}`, { ...(ofObject ? objectOf(about) : {}), ...fields });
}
