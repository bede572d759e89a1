import { certificateErrorCode } from '../../../core/certificate-errors.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { createUpstream, type UpstreamConfig, type UpstreamParts } from '../upstream/create-upstream.ts';
import { reasonOf } from '../upstream/failures.ts';
import { refusal } from '../upstream/refusal.ts';
import type { Check, Failing } from './watch.ts';

/** S3 lets nobody make a bucket whose name begins like this, so that nobody gets to see the requests for it. */
const nobodysBucket = 'amzn-s3-demo-svc-ready';
const limits = { sockets: 1, connectMs: 4_000, idleMs: 4_000 };

export interface StoreCheckConfig extends UpstreamConfig {
  readonly stateBucket: string | undefined;
  readonly reservedPrefix: string;
}

/**
 * Whether the store can be reached, its certificate is trusted, and it knows the credentials: a signed GET of an object
 * that is not there, over a connection of its own, so that each run proves the certificate anew and none waits for
 * callers. It needs no permission: any answer will do but one that the credentials themselves are wrong.
 */
export function storeCheck(config: StoreCheckConfig, parts: Omit<UpstreamParts, 'limits'>): Check {
  const { stateBucket: bucket = nobodysBucket, reservedPrefix } = config;
  const request = { method: 'GET', bucket, key: `${reservedPrefix}ready` };
  return {
    condition: 'store',
    async run(signal) {
      await parts.credentials();
      const upstream = createUpstream(config, untold, { ...parts, limits });
      try {
        const { code } = await refusal(await upstream.send({ ...request, signal }).catch(unreached));
        if (wrongCredentials.has(code)) throw new Refused(code);
      } finally {
        upstream.close();
      }
    },
    explain,
  };
}

/** What is wrong is told once, and not by each run. */
const untold: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => untold };

/** Without a right to the object it is AccessDenied, which says that they are known. */
const wrongCredentials: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/** No answer: the cause is that of the connection. */
class Unreached extends Error {
  override readonly name = 'Unreached';
}

function unreached(error: unknown): never {
  if (!(error instanceof S3Error) || error.code !== 'ServiceUnavailable') throw error;
  throw new Unreached(error.message, { cause: error.cause });
}

class Refused extends Error {
  override readonly name = 'Refused';

  constructor(code: string) {
    super(`The object store refuses the proxy's own credentials (${code})`);
  }
}

function explain(error: unknown): Failing {
  const certificate = certificateErrorCode(error);
  if (certificate !== undefined) {
    const reason = `The certificate of the object store is not trusted (${certificate})`;
    return { reason, nextStep: 'Give its authority, as a PEM file, in AWS_CA_BUNDLE.' };
  }
  if (error instanceof Unreached) {
    const reason = `The object store cannot be reached (${reasonOf(error.cause)})`;
    return { reason, nextStep: 'Check --upstream, the name service and the egress policy.' };
  }
  if (error instanceof Refused) {
    const nextStep = "Check the proxy's AWS_* variables or its role, AWS_REGION and the clock.";
    return { reason: error.message, nextStep };
  }
  return { reason: describeError(error).error };
}
