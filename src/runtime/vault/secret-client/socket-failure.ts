import { HttpError } from '../../../core/http1/http-error.ts';
import { VaultError, type VaultErrorOptions } from '../errors.ts';

/** The error for an exchange that broke. `cause` may be an error of ours already, which is passed on. */
export function brokenExchange(host: string, cause: unknown): unknown {
  if (cause instanceof HttpError) {
    return new VaultError('unavailable', `No usable answer from ${host}: ${cause.message}`, { cause });
  }
  return isSystemError(cause) ? noAnswer(host, cause.code, cause) : cause;
}

export const noAnswer = (host: string, reason: string, cause?: unknown): VaultError =>
  new VaultError('unavailable', `No answer from ${host}: ${reason}`, { cause, ...stepFor(reason) });

function isSystemError(cause: unknown): cause is Error & { code: string } {
  return (
    cause instanceof Error && typeof (cause as NodeJS.ErrnoException).code === 'string' && !('kind' in cause)
  );
}

function stepFor(reason: string): Pick<VaultErrorOptions, 'nextStep'> {
  if (/ALERT_.*CERT|ALERT_UNKNOWN_CA|ALERT_HANDSHAKE_FAILURE/.test(reason)) {
    return {
      nextStep:
        'Give a client certificate that the server accepts by SVC_BROKER_TLS_CERT and SVC_BROKER_TLS_KEY.',
    };
  }
  if (/CERT|ISSUER|VERIFY/.test(reason)) {
    return {
      nextStep:
        'Name the authority of its certificate by VAULT_CACERT (SVC_BROKER_TLS_CA for a broker), and check that the certificate is for this address and still valid.',
    };
  }
  return {};
}
