import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { passedResponseHeaders, requestHeadersUpstream } from '../../../objects/s3/headers.ts';
import { checkRestoreBody } from '../../../objects/s3/request-documents.ts';
import type { UpstreamResponse } from '../../../objects/upstream/upstream.ts';

/** For configuration documents; S3's longest are policies and lifecycles of some hundred KiB. */
const bodyLimit = 1024 * 1024;

/** Signs a request that carries no object data anew, sends it to the store, and returns the answer. */
export const passThrough: OperationHandler = async (services, context) => {
  const { method } = context.request;
  if (method === 'OPTIONS') return preflight(services, context);
  const body = await context.payload.read(method === 'PUT' || method === 'POST' ? bodyLimit : 0);
  refuseData(context.request.query.has('policy'), body);
  if (context.request.query.has('restore')) checkRestoreBody(body);
  await relay(context, await forward(services, context, body));
};

const preflightHeaders = ['origin', 'access-control-request-method', 'access-control-request-headers'];

/**
 * A CORS preflight, which browsers do not sign. Nothing else of it reaches the store, which answers according to the
 * bucket's rules.
 */
const preflight: OperationHandler = async ({ upstream }, context) => {
  const { request, payload, signal } = context;
  await payload.read(0);
  const { method, bucket, key } = request;
  const headers = Object.fromEntries(
    preflightHeaders.map((name) => [name, request.headers[name]?.toString()]),
  );
  await relay(context, await upstream.send({ method, bucket, key, headers, signal }));
};

/** Object data sent to a bucket or subresource by mistake must not reach the store unencrypted. */
function refuseData(isPolicy: boolean, body: Buffer): void {
  const start = body.toString('utf8', 0, 1024).trimStart();
  if (start === '' ? body.length <= 1024 : start.startsWith(isPolicy ? '{' : '<')) return;
  throw s3Error(isPolicy ? 'MalformedPolicy' : 'MalformedXML');
}

/**
 * Forwards the request as it came. The caller's checksums were verified, and one sent as a trailer is gone by now; S3
 * requires a checksum for most documents.
 */
export function forward(
  { upstream }: ObjectServices,
  { request, signal }: Pick<RequestContext, 'request' | 'signal'>,
  body: Buffer,
): Promise<UpstreamResponse> {
  const { method, bucket, key, query } = request;
  const headers = requestHeadersUpstream(request.headers);
  const own =
    body.length === 0 && !hasDigest(request.headers) ? {} : { 'content-md5': hash('md5', body, 'base64') };
  const forwarded = { method, bucket, key, query: query.entries, headers: { ...headers, ...own }, signal };
  return upstream.send(forwarded, body.length === 0 ? undefined : body);
}

const hasDigest = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => name === 'content-md5' || /^x-amz-(?:checksum-|trailer$)/.test(name));

async function relay({ answer }: RequestContext, response: UpstreamResponse): Promise<void> {
  answer.head(response.status, passedResponseHeaders(response.headers));
  for await (const chunk of response.body as AsyncIterable<Buffer>) await answer.write(chunk);
  await answer.end();
}
