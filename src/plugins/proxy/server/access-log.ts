import { createHmac } from 'node:crypto';
import type { S3Request } from '../../../objects/s3/request.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';

/** One finished request. */
export interface ServedRequest {
  readonly id: string;
  /** Undefined if the request was refused before it was parsed. */
  readonly request: S3Request | undefined;
  readonly operation: string;
  /** Access key id; undefined: not authenticated. */
  readonly caller: string | undefined;
  readonly status: number;
  /** Code of the S3 error in the answer. */
  readonly code: string | undefined;
  /** Body bytes received and sent. */
  readonly received: number;
  readonly sent: number;
  /** Version of the transit key that wraps the object's keys. */
  readonly keyVersion: number | undefined;
  readonly milliseconds: number;
}

export type AccessLog = (served: ServedRequest) => void;

export interface AccessLogConfig {
  /** Object keys as they are, or as an HMAC of bucket and key. */
  readonly keys: 'plain' | 'hashed';
  /** Key of the HMAC. */
  readonly secret: string | undefined;
}

/** Writes one line for each request. */
export function createAccessLog({ keys, secret = '' }: AccessLogConfig, log: Logger): AccessLog {
  const named = keys === 'plain' ? plainName : hashedName(secret);
  return ({ id, request, operation, caller, milliseconds, ...outcome }) =>
    log.info('proxy.access', {
      ...{ requestId: id, caller: caller ?? null, operation, ...(request && named(request)) },
      ...outcome,
      milliseconds: Math.round(milliseconds * 10) / 10,
    });
}

type Named = Pick<S3Request, 'bucket' | 'key'>;

const plainName = ({ bucket, key }: Named) => ({ bucket, ...(key !== '' && { key }) });

/** Includes the bucket, so that equal keys in two buckets do not look equal. 128 bits. */
const hashedName =
  (secret: string) =>
  ({ bucket, key }: Named) => ({
    bucket,
    ...(key !== '' && {
      keyHash: createHmac('sha256', secret).update(`${bucket}/${key}`).digest('hex').slice(0, 32),
    }),
  });
