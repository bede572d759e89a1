import type { IncomingMessage } from 'node:http';
import type { S3Request } from '../../../core/s3/request.ts';
import type { SignatureVerifier, VerifiedSignature } from '../../../core/s3/sigv4.ts';
import { mergeHoisted, parseTarget } from '../../../core/s3/target.ts';

export interface Admitted {
  readonly request: S3Request;
  readonly signature: VerifiedSignature | undefined;
}

/** Below it, anybody on this machine may look at what is stored, as it is. */
export const peekPath = '/_peek';

/** Who asks for what. @throws S3Error for everybody who does not sign with the store's keys */
export function admit(id: string, incoming: IncomingMessage, verifier: SignatureVerifier): Admitted {
  const { method = '', url = '', headers } = incoming;
  if (isPeek(method, url)) return peek(id, method, url.slice(peekPath.length), headers.range);
  const { hoisted, ...target } = parseTarget(url, headers.host);
  const signature = verifier.verify({ ...target, method, headers });
  return { request: { id, method, ...target, headers: mergeHoisted(headers, hoisted) }, signature };
}

const isPeek = (method: string, url: string): boolean =>
  (method === 'GET' || method === 'HEAD') && url.startsWith(`${peekPath}/`);

/** Headers of the asker other than Range are passed over. */
function peek(id: string, method: string, url: string, range: string | undefined): Admitted {
  const { hoisted: _, ...target } = parseTarget(url, undefined);
  return {
    request: { id, method, ...target, headers: range === undefined ? {} : { range } },
    signature: undefined,
  };
}
