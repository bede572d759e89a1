import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorXml, S3Error, s3Error } from '../../../objects/s3/error.ts';
import { classify } from '../../../objects/s3/operation.ts';
import { createPayload } from '../../../objects/s3/received-payload.ts';
import { mergeHoisted, parseTarget, type S3Request } from '../../../objects/s3/request.ts';
import { SignatureVerifier, type VerifiedSignature } from '../../../objects/s3/sigv4-verify.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { type LoopbackServer, serveOnLoopback } from '../listen.ts';
import type { Catalog } from './catalog.ts';
import { type StoreLimits, StoreReply } from './exchange.ts';
import { handlerOf } from './store-routes.ts';

export interface ObjectStore extends LoopbackServer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Base URL of unsigned access to stored bytes: append `/<bucket>/<key>`. */
  readonly peekUrl: string;
}

const mostBytes = 5 * 1024 ** 3;
/** As in S3. */
const defaultLimits: StoreLimits = { leastPartBytes: 5 * 1024 ** 2 };

/** An S3 server for development over `catalog`. Signatures, lengths, digests and trailers are checked. */
export async function startObjectStore(
  catalog: Catalog,
  log: Logger,
  limits: StoreLimits = defaultLimits,
): Promise<ObjectStore> {
  const accessKeyId = `DEV${randomBytes(8).toString('hex').toUpperCase()}`;
  const secretAccessKey = randomBytes(20).toString('hex');
  const verifier = new SignatureVerifier((id) => (id === accessKeyId ? secretAccessKey : undefined));
  const server = await serveOnLoopback((request, response) => {
    const id = randomBytes(8).toString('hex').toUpperCase();
    response.setHeader('x-amz-request-id', id).setHeader('server', 'svc-dev');
    const reply = new StoreReply(response);
    serve({ catalog, limits, verifier }, { id, request, reply }).catch((error) =>
      fail(error, { id, request, response, reply }, log),
    );
  });
  return { ...server, accessKeyId, secretAccessKey, peekUrl: server.url + peekPath };
}

interface Served {
  readonly catalog: Catalog;
  readonly limits: StoreLimits;
  readonly verifier: SignatureVerifier;
}

interface Incoming {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly reply: StoreReply;
}

async function serve(
  { catalog, limits, verifier }: Served,
  { id, request: incoming, reply }: Incoming,
): Promise<void> {
  const { request, signature } = admit(id, incoming, verifier);
  const operation = classify(request);
  if (operation.name === 'Refused') throw operation.error;
  const checksums: Record<string, string> = {};
  const payload = createPayload({
    headers: request.headers,
    signature,
    limit: mostBytes,
    raw: () => incoming.iterator({ destroyOnReturn: false }),
    onVerified: (verified) => Object.assign(checksums, verified),
  });
  await handlerOf(operation.name, request)({ catalog, limits, request, payload, reply, checksums });
}

function fail(
  error: unknown,
  { id, request, response, reply }: Incoming & { response: ServerResponse },
  log: Logger,
): void {
  const gone = request.destroyed && !request.complete;
  if (!(error instanceof S3Error) && !gone && !reply.started)
    log.error('dev.store.broke', describeError(error));
  if (reply.started || gone) return reply.destroy();
  const told = error instanceof S3Error ? error : s3Error('InternalError');
  // The rest is read, because a caller that is still sending reads the response only afterwards.
  request.resume();
  if (request.method === 'HEAD') return reply.empty(told.status);
  const xml = errorXml(told, { resource: (request.url ?? '').split('?', 1)[0] ?? '', requestId: id });
  response.writeHead(told.status, { 'content-type': 'application/xml' }).end(xml);
}

export interface Admitted {
  readonly request: S3Request;
  readonly signature: VerifiedSignature | undefined;
}

/** Below this path, anybody on this machine may read the stored bytes. */
const peekPath = '/_peek';

/** The request and its signature. @throws S3Error unless the request is signed with the store's keys */
function admit(id: string, incoming: IncomingMessage, verifier: SignatureVerifier): Admitted {
  const { method = '', url = '', headers } = incoming;
  if (isPeek(method, url)) return peek(id, method, url.slice(peekPath.length), headers.range);
  const { hoisted, ...target } = parseTarget(url, headers.host);
  const signature = verifier.verify({ ...target, method, headers });
  return { request: { id, method, ...target, headers: mergeHoisted(headers, hoisted) }, signature };
}

const isPeek = (method: string, url: string): boolean =>
  (method === 'GET' || method === 'HEAD') && url.startsWith(`${peekPath}/`);

/** Of the request's headers, only Range is used. */
function peek(id: string, method: string, url: string, range: string | undefined): Admitted {
  const { hoisted: _, ...target } = parseTarget(url, undefined);
  return {
    request: { id, method, ...target, headers: range === undefined ? {} : { range } },
    signature: undefined,
  };
}
