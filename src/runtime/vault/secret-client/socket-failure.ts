import { exitStatus } from '../../../core/errors.ts';
import { HttpError } from '../../../core/http1/http-error.ts';
import { certificateCode, VaultError, type VaultErrorOptions } from '../errors.ts';

/** The error for an exchange that broke. `cause` may be an error of ours already, which is passed on. */
export function brokenExchange(host: string, cause: unknown): unknown {
  if (cause instanceof HttpError) {
    return new VaultError('unavailable', `No usable answer from ${host}: ${cause.message}`, { cause });
  }
  return isSystemError(cause) ? noAnswer(host, cause.code, cause) : cause;
}

/** @param reason the code of a system error, or words */
export const noAnswer = (host: string, reason: string, cause?: unknown): VaultError =>
  new VaultError('unavailable', `No answer from ${host}: ${reason}`, { cause, ...factsOf(reason) });

function isSystemError(cause: unknown): cause is Error & { code: string } {
  return (
    cause instanceof Error && typeof (cause as NodeJS.ErrnoException).code === 'string' && !('kind' in cause)
  );
}

/** Codes of Node and OpenSSL for a server's certificate that cannot be verified. */
const untrusted = /CERT|ISSUER|VERIFY|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;
const unwanted = /ALERT_.*CERT|ALERT_UNKNOWN_CA/;
const certificate = { code: certificateCode, exitStatus: exitStatus.config } as const;

function factsOf(reason: string): Pick<VaultErrorOptions, 'nextStep' | 'code' | 'exitStatus'> {
  if (unwanted.test(reason) || /ALERT_HANDSHAKE_FAILURE/.test(reason)) {
    return {
      ...(unwanted.test(reason) ? certificate : {}),
      nextStep:
        'Give a client certificate that the server accepts by SVC_BROKER_TLS_CERT and SVC_BROKER_TLS_KEY.',
    };
  }
  if (untrusted.test(reason)) {
    return {
      ...certificate,
      nextStep:
        'Name the authority of its certificate by VAULT_CACERT (SVC_BROKER_TLS_CA for a broker), and check that the certificate is for this address and still valid.',
    };
  }
  return {};
}
