import { SignatureVerifier, type SignedRequest, type VerifiedSignature } from '../../../core/s3/sigv4.ts';
import type { ProxyConfig } from '../config.ts';

/**
 * Finds out whether a request may be served. Undefined for any caller where callers are not authenticated.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch … for everybody who does not hold the caller keys.
 */
export type Authenticate = (request: SignedRequest) => VerifiedSignature | undefined;

/** Checks signatures, in the header and presigned, where the proxy has caller keys; else lets everybody in. */
export function createAuthenticate(callerKeys: ProxyConfig['callerKeys']): Authenticate {
  if (callerKeys === undefined) return () => undefined;
  const { accessKeyId, secretAccessKey } = callerKeys;
  const verifier = new SignatureVerifier((id) => (id === accessKeyId ? secretAccessKey : undefined));
  return (request) => verifier.verify(request);
}
