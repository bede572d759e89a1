import { parseCopySource } from '../../../core/s3/copy-source.ts';
import type { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import type { ProxyConfig } from '../config.ts';

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
