import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type S3Error, s3Error } from '../../../core/s3/error.ts';
import { hostName, parseCopySource, type S3Request } from '../../../core/s3/request.ts';
import {
  SignatureVerifier,
  type SignedRequest,
  type VerifiedSignature,
} from '../../../core/s3/sigv4-verify.ts';
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

/**
 * Refuses heads that a server before or behind this one could read otherwise, and that `node:http` lets pass.
 * @throws S3Error InvalidRequest for other versions than HTTP/1.x, the one without a name included, for several `Host`
 *   headers, and for names such as `x-amz-copy_source`, which some stores take for `x-amz-copy-source`
 */
export function refuseAmbiguous({
  httpVersionMajor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'rawHeaders'>): void {
  if (httpVersionMajor !== 1) throw s3Error('InvalidRequest', 'Only HTTP/1.0 and HTTP/1.1 are served.');
  if (hosts(rawHeaders) > 1) throw s3Error('InvalidRequest', 'The request has more than one Host header.');
  const odd = names(rawHeaders).find((name) => /^x-amz-/i.test(name) && !plain.test(name));
  if (odd !== undefined)
    throw s3Error('InvalidRequest', `The header ${odd.slice(0, 100)} could be taken for another one.`);
}

/** User metadata may have any name; what of it could be taken for the proxy's own is left out later. */
const plain = /^x-amz-(?:[a-z0-9-]+|meta-.*)$/i;

const hosts = (rawHeaders: readonly string[]): number =>
  names(rawHeaders).filter((name) => name.length === 4 && name.toLowerCase() === 'host').length;

/** Names and values stand in turn. */
const names = (rawHeaders: readonly string[]): string[] => rawHeaders.filter((_, at) => at % 2 === 0);

type Reservation = Pick<ProxyConfig, 'reservedPrefix' | 'stateBucket'>;

/**
 * Whether a key is one of the proxy's own. Empty segments are left out first, because
 * stores over a file system take `/.svc//x` for `.svc/x`.
 */
export function isReservedKey(key: string, reservedPrefix: string): boolean {
  if (key === '' || !key.includes(reservedPrefix.slice(0, -1))) return false;
  const plain = key.split('/').filter((segment) => segment !== '');
  return `${plain.join('/')}/`.startsWith(reservedPrefix);
}

/** @throws S3Error AccessDenied when the request names, as target or as copy source, what is the proxy's own */
export function refuseReserved(request: S3Request, reservation: Reservation): void {
  refuseName(request, reservation);
  const source = request.headers['x-amz-copy-source'];
  if (typeof source === 'string') refuseName(parseCopySource(source), reservation);
}

function refuseName(name: { bucket: string; key: string }, reservation: Reservation): void {
  if (reservation.stateBucket !== undefined && name.bucket === reservation.stateBucket) {
    throw s3Error('AccessDenied', 'This bucket is reserved for the encryption proxy.');
  }
  if (isReservedKey(name.key, reservation.reservedPrefix)) throw reservedKey(reservation.reservedPrefix);
}

export const reservedKey = (reservedPrefix: string): S3Error =>
  s3Error('AccessDenied', `Keys that begin with ${reservedPrefix} are reserved for the encryption proxy.`);
