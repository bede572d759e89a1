import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ChunkSigner } from '../../../../src/objects/s3/chunk-encoder.ts';
import { RequestSigner } from '../../../../src/objects/s3/sigv4-sign.ts';
import { chunked, chunkedHeaders } from '../../../bad-input/support/chunks.ts';
import { callerKeys, type RunningMode } from '../bed.ts';
import { encodedPath } from '../call.ts';
import type { Choices } from '../choices.ts';

/** A request before it is bytes; mutations may put anything anywhere. */
export interface RawRequest {
  method: string;
  target: string;
  version: string;
  /** Names and values as they are sent, in order. */
  headers: [name: string, value: string][];
  body: Buffer;
  /** Ends of lines. */
  newline: string;
  /** Sent behind the body. */
  behind: Buffer;
}

/** A request that is right, and what it may do. */
export interface Base {
  readonly request: RawRequest;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly key: string;
  /** What a PUT stores. */
  readonly payload: Buffer | undefined;
  /** The signature says which bytes; false where only the head is signed, or nothing. */
  readonly bodyIsSigned: boolean;
}

type Form =
  | 'GET'
  | 'HEAD'
  | 'PUT'
  | 'PUT chunks'
  | 'PUT trailer'
  | 'DELETE'
  | 'presigned GET'
  | 'presigned PUT';

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
const unsigned = 'UNSIGNED-PAYLOAD';

/** @param readable a key that has an object; @param writable one whose fate does not matter */
export function baseRequest(
  mode: RunningMode,
  choices: Choices,
  bucket: string,
  keys: { readable: string; writable: string },
  payload: Buffer,
): Base {
  const form = choices.weighted<Form>([
    [24, 'GET'],
    [4, 'HEAD'],
    [20, 'PUT'],
    [14, 'PUT chunks'],
    [12, 'PUT trailer'],
    [6, 'DELETE'],
    [10, 'presigned GET'],
    [10, 'presigned PUT'],
  ]);
  const method = form.replace(/^presigned | .*$/g, '') as Base['method'];
  const reads = method === 'GET' || method === 'HEAD';
  const key = reads ? keys.readable : keys.writable;
  const { host } = new URL(mode.proxy.url);
  const path = encodedPath(bucket, key);
  const draft = { mode, method, host, path, payload: reads || method === 'DELETE' ? undefined : payload };
  const built = form.startsWith('presigned')
    ? presigned(draft)
    : form === 'PUT chunks'
      ? inSignedChunks(draft)
      : form === 'PUT trailer'
        ? withTrailer(draft)
        : whole(draft);
  return { ...built, method, key, payload: draft.payload };
}

interface Draft {
  readonly mode: RunningMode;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly payload: Buffer | undefined;
}

type Built = Pick<Base, 'request' | 'bodyIsSigned'>;

const signer = new RequestSigner('eu-central-1');

const rawOf = (
  { method, path, host }: Draft,
  headers: Record<string, string>,
  body: Buffer = Buffer.alloc(0),
  query = '',
): RawRequest => ({
  method,
  target: query === '' ? path : `${path}?${query}`,
  version: 'HTTP/1.1',
  headers: Object.entries({
    host,
    ...headers,
    ...(body.length > 0 || method === 'PUT' ? { 'content-length': String(body.length) } : {}),
  }),
  body,
  newline: '\r\n',
  behind: Buffer.alloc(0),
});

function signedHead(draft: Draft, headers: Record<string, string>, payload: string) {
  const { mode, method, path, host } = draft;
  if (!mode.keys) return { headers: { ...headers, 'x-amz-content-sha256': payload }, chunks: undefined };
  return signer.sign({ method, path, query: '', headers: { ...headers, host }, payload }, callerKeys);
}

function whole(draft: Draft): Built {
  const { payload } = draft;
  const headers = payload === undefined ? {} : { 'x-amz-meta-own': 'mine' };
  return {
    request: rawOf(draft, signedHead(draft, headers, sha256(payload ?? '')).headers, payload),
    bodyIsSigned: true,
  };
}

function inSignedChunks(draft: Draft): Built {
  const payload = draft.payload ?? Buffer.alloc(0);
  const headers = {
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': String(payload.length),
  };
  const signed = signedHead(draft, headers, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD');
  const chain = signed.chunks && new ChunkSigner(signed.chunks);
  const half = payload.length >> 1;
  const pieces = [payload.subarray(0, half), payload.subarray(half), Buffer.alloc(0)].filter(
    (piece, at) => at === 2 || piece.length > 0,
  );
  const body = pieces.flatMap((piece) => [
    Buffer.from(
      `${piece.length.toString(16)};chunk-signature=${chain?.chunk([piece]) ?? '0'.repeat(64)}\r\n`,
    ),
    piece,
    Buffer.from('\r\n'),
  ]);
  return { request: rawOf(draft, signed.headers, Buffer.concat(body)), bodyIsSigned: draft.mode.keys };
}

function withTrailer(draft: Draft): Built {
  const payload = draft.payload ?? Buffer.alloc(0);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(payload));
  const { 'x-amz-content-sha256': form = '', ...headers } = chunkedHeaders(
    payload.length,
    'x-amz-checksum-crc32',
  );
  const body = chunked(payload, [`x-amz-checksum-crc32:${sum.toString('base64')}`]);
  return { request: rawOf(draft, signedHead(draft, headers, form).headers, body), bodyIsSigned: false };
}

function presigned(draft: Draft): Built {
  const { mode, method, path, host, payload } = draft;
  if (!mode.keys) return whole(draft);
  const timestamp = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${timestamp.slice(0, 8)}/eu-central-1/s3/aws4_request`;
  const query = [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256',
    `X-Amz-Credential=${encodeURIComponent(`${callerKeys.accessKeyId}/${scope}`)}`,
    `X-Amz-Date=${timestamp}`,
    'X-Amz-Expires=300',
    'X-Amz-SignedHeaders=host',
  ].join('&');
  const canonical = `${method}\n${path}\n${query}\nhost:${host}\n\nhost\n${unsigned}`;
  const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
  const [day = '', region = '', service = ''] = scope.split('/');
  const signingKey = hmac(
    hmac(hmac(hmac(`AWS4${callerKeys.secretAccessKey}`, day), region), service),
    'aws4_request',
  );
  const signature = hmac(
    signingKey,
    `AWS4-HMAC-SHA256\n${timestamp}\n${scope}\n${sha256(canonical)}`,
  ).toString('hex');
  return { request: rawOf(draft, {}, payload, `${query}&X-Amz-Signature=${signature}`), bodyIsSigned: false };
}

export function bytesOf({ method, target, version, headers, body, newline, behind }: RawRequest): Buffer {
  const head = [
    `${method} ${target} ${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ].join(newline);
  return Buffer.concat([Buffer.from(`${head}${newline}${newline}`, 'latin1'), body, behind]);
}
