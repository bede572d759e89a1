import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { hostName } from '../../../core/s3/host.ts';
import { SignatureVerifier, type SignedRequest, type VerifiedSignature } from '../../../core/s3/sigv4.ts';
import { isLoopback } from '../../../core/settings/listen-address.ts';
import type { ProxyConfig } from '../config.ts';

/**
 * Finds out whether a request may be served. Undefined for callers that are not authenticated.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch … for everybody who does not hold the caller keys; where
 *   there are none, AccessDenied for what a browser may have been led to
 */
export type Authenticate = (request: SignedRequest) => VerifiedSignature | undefined;

export type CallerRules = Pick<ProxyConfig, 'callerKeys' | 'hosts'> & {
  readonly listen: Pick<ProxyConfig['listen'], 'host'>;
};

/** Checks signatures, in the header and presigned, where the proxy has caller keys; else host and origin. */
export function createAuthenticate(rules: CallerRules): Authenticate {
  const { callerKeys } = rules;
  if (callerKeys === undefined) return ({ headers }) => refuseForeign(headers, rules);
  const { accessKeyId, secretAccessKey } = callerKeys;
  const verifier = new SignatureVerifier((id) => (id === accessKeyId ? secretAccessKey : undefined));
  return (request) => verifier.verify(request);
}

/**
 * Whoever reaches the port may use it, and a browser on this machine reaches it for every page that it shows. A page whose
 * own name DNS leads here (rebinding) is told by `Host`, one that calls from elsewhere by `Origin` and `Sec-Fetch-Site`.
 */
function refuseForeign(headers: IncomingHttpHeaders, rules: CallerRules): undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isKnownHost(host === '' ? '' : hostName(host).toLowerCase(), rules))
    throw s3Error(
      'AccessDenied',
      'Callers that are not authenticated reach this proxy as localhost only. Name other hosts with --hosts, or set caller keys.',
    );
  const ownPage = origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`;
  if (!ownPage || !(site === undefined || site === 'same-origin' || site === 'none'))
    throw s3Error(
      'AccessDenied',
      'Browsers may call this proxy for pages of others only where callers are authenticated.',
    );
}

/** Rebinding needs a name: beyond loopback, addresses are as good as the one that is listened at. */
function isKnownHost(name: string, { listen, hosts }: CallerRules): boolean {
  if (isLoopback(name) || name.endsWith('.localhost') || hosts.includes(name)) return true;
  return !isLoopback(listen.host) && (name === listen.host || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0);
}
