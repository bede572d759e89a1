/** What Node says of a certificate that it does not accept; trying again changes none of them. */
const codes: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const deepest = 8;

/** The code by which an error, or one of its causes, says that a certificate was refused; undefined: none does. */
export function certificateErrorCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < deepest && current instanceof Error; depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (codes.has(code)) return code;
    current = current.cause;
  }
  return undefined;
}
