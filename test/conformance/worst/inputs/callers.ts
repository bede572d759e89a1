import type { AnswerKind } from '../input.ts';
import type { Manner } from '../send.ts';
import { filled, KiB, MiB, numbered, worstXml } from './pieces.ts';

/** A request to the proxy. */
export interface CallerInput extends Manner {
  readonly name: string;
  readonly line: string;
  readonly headers?: readonly string[];
  /** With its length, unless the headers say how it is framed. */
  readonly body?: () => Buffer;
  readonly outcomes: readonly AnswerKind[];
  readonly atOnce?: number;
  /** Connections that come one after the other, and send together; more come when they have. */
  readonly crowd?: Crowd;
}

export interface Crowd {
  readonly count: number;
  /** Pause between one connection and the next. */
  readonly everyMs: number;
  /** When they send, from the first connection. */
  readonly sendAtMs: number;
}

/** Refused as what it is; a document may also be refused for what it is about. */
const refused = [400, 404, 501] as const;
/** Documents that the proxy passes on are judged by the store. */
const passed = [200, 204, 400, 403, 404, 405, 500, 501] as const;
const chunked = 'Transfer-Encoding: chunked';
const unsignedChunks = 'x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER';

const part = '<Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>';
const sums = '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>';
const longKey = '&amp;'.repeat(1_000);

const documents = (what: string, line: string, bytes: number, root: string, entry: string): CallerInput[] =>
  Object.entries(worstXml(root, bytes, entry)).map(([name, body]) => ({
    ...{ name: `${what}: ${name}`, line, body, outcomes: refused },
  }));

const complete = 'POST /bucket/x?uploadId=a';
const remove = 'POST /bucket?delete';

export const callerInputs: readonly CallerInput[] = [
  ...documents('Complete', complete, 4 * MiB, 'CompleteMultipartUpload', 'Part'),
  {
    ...{ name: 'Complete: as many parts as fit', line: complete, outcomes: refused },
    body: () => filled(4 * MiB, '<CompleteMultipartUpload>', part, '</CompleteMultipartUpload>'),
  },
  {
    ...{ name: 'Complete: 10,000 parts with checksums', line: complete, outcomes: refused },
    body: () =>
      filled(
        4 * MiB,
        '<CompleteMultipartUpload>',
        (index) =>
          index < 10_000
            ? `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${'a'.repeat(32)}"</ETag>${sums}</Part>`
            : ' '.repeat(4 * MiB),
        '</CompleteMultipartUpload>',
      ),
  },
  ...documents('DeleteObjects', remove, 2 * MiB, 'Delete', 'Object').map((one) =>
    // one key of two megabytes is a key like others, and refused within the result
    one.name.endsWith(': entities') ? { ...one, outcomes: [200] } : one,
  ),
  {
    ...{ name: 'DeleteObjects: as many keys as fit', line: remove, outcomes: refused },
    body: () => filled(2 * MiB, '<Delete>', '<Object><Key>a</Key></Object>', '</Delete>'),
  },
  {
    ...{ name: 'DeleteObjects: long keys of entities', line: remove, outcomes: [200, 400] },
    body: () =>
      filled(2 * MiB, '<Delete>', (index) => `<Object><Key>${longKey}${index}</Key></Object>`, '</Delete>'),
  },
  ...documents('Restore', 'POST /bucket/x?restore', 64 * KiB, 'RestoreRequest', 'Days'),
  ...['tagging', 'cors', 'lifecycle', 'acl'].map((name) => ({
    ...{ name: `${name} of a bucket: a megabyte of elements`, line: `PUT /bucket?${name}`, outcomes: passed },
    body: () => filled(MiB, '<Tagging>', '<a/>', '</Tagging>'),
  })),
  {
    ...{ name: 'policy of a bucket: a megabyte of lists', line: 'PUT /bucket?policy', outcomes: passed },
    body: () => filled(MiB, '{"a":[', '[],', '[]]}'),
  },
  {
    name: 'PUT in aws-chunks of one byte without a decoded length',
    line: 'PUT /bucket/aws-chunks',
    ...{ headers: [unsignedChunks], outcomes: [200, 400, 411] },
    body: () => Buffer.from(`${'1\r\nX\r\n'.repeat(65_000)}0\r\n\r\n`),
  },
  {
    name: 'PUT in aws-chunks of one byte without a decoded length, then silence',
    line: 'PUT /bucket/aws-silence',
    headers: [unsignedChunks, `Content-Length: ${6 * 65_000 + 1}`],
    body: () => Buffer.from('1\r\nX\r\n'.repeat(65_000)),
    ...{ outcomes: ['ended', 200, 400, 411], leaveAfterMs: 9_000 },
  },
  {
    name: 'PUT in aws-chunks of one byte with a decoded length',
    line: 'PUT /bucket/aws-decoded',
    headers: [unsignedChunks, 'x-amz-decoded-content-length: 65000'],
    body: () => Buffer.from(`${'1\r\nX\r\n'.repeat(65_000)}0\r\n\r\n`),
    outcomes: [200, 400],
  },
  {
    ...{ name: 'PUT in chunks of one byte', line: 'PUT /bucket/chunks', headers: [chunked] },
    body: () => Buffer.from(`${'1\r\nx\r\n'.repeat(80_000)}0\r\n\r\n`),
    outcomes: [200],
  },
  {
    name: 'UploadPart in chunks of one byte of an upload that there is not',
    ...{ line: 'PUT /bucket/chunks?partNumber=1&uploadId=a', headers: [chunked] },
    body: () => Buffer.from(`${'1\r\nx\r\n'.repeat(80_000)}0\r\n\r\n`),
    outcomes: [404],
  },
  {
    name: 'DeleteObjects in chunks of one byte',
    ...{ line: remove, headers: [chunked] },
    body: () => Buffer.from(`${'1\r\n \r\n'.repeat(700_000)}0\r\n\r\n`),
    outcomes: [400],
  },
  {
    name: 'DeleteObjects in aws-chunks of one byte',
    ...{ line: remove, headers: [unsignedChunks, 'x-amz-decoded-content-length: 700000'] },
    body: () => Buffer.from(`${'1\r\n \r\n'.repeat(700_000)}0\r\n\r\n`),
    outcomes: [400],
  },
  {
    ...{ name: 'a chunk header of a megabyte', line: 'PUT /bucket/x', headers: [chunked] },
    body: () => Buffer.from(`1;${'a'.repeat(MiB)}\r\nx\r\n0\r\n\r\n`),
    outcomes: [400, 413, 'ended'],
  },
  {
    ...{ name: 'trailers without end', line: 'PUT /bucket/x', headers: [chunked, unsignedChunks] },
    body: () => Buffer.from(`0\r\n${'x-amz-a: b\r\n'.repeat(50_000)}\r\n`),
    outcomes: [400, 'ended', 431, 413],
  },
  {
    name: 'a head of as many headers as fit',
    ...{ line: 'GET /bucket/x', outcomes: [400, 404, 431] },
    headers: Array.from({ length: 8_000 }, (_, index) => `${numbered(index)}:`),
  },
  {
    name: 'metadata of as many headers as fit',
    ...{ line: 'PUT /bucket/metadata', outcomes: [200, 400, 431] },
    headers: Array.from({ length: 500 }, (_, index) => `x-amz-meta-${numbered(index)}: a`),
    body: () => Buffer.from('x'),
  },
  {
    name: 'a query of as many parameters as fit',
    ...{ line: `GET /bucket/x?${'a&'.repeat(30_000)}`, outcomes: [400, 404, 414, 431, 501] },
  },
  {
    name: 'a range of as many ranges as fit',
    ...{ line: 'GET /bucket/x', headers: [`Range: bytes=${'0-0,'.repeat(14_000)}0-0`] },
    outcomes: [400, 404, 416, 431],
  },
  {
    name: 'tags of as many pairs as fit',
    ...{ line: 'PUT /bucket/tagged', headers: [`x-amz-tagging: ${'a&'.repeat(30_000)}`] },
    ...{ outcomes: [200, 400, 431], body: () => Buffer.from('x') },
  },
];

/** What is sent to a listener by connections that have no end. */
export const crowdInputs: readonly CallerInput[] = [
  {
    ...{ name: '512 connections with a PUT whose body trickles, then 48', line: 'PUT /bucket/trickles' },
    ...{ headers: ['Content-Length: 100000'], atOnce: 560, trickle: true, leaveAfterMs: 14_000 },
    crowd: { count: 512, everyMs: 10, sendAtMs: 7_000 },
    outcomes: ['ended', 200, 400, 403, 408],
  },
  {
    ...{ name: '600 connections with a head that never ends', line: 'GET /bucket/x' },
    ...{ headers: ['Content-Length: 0', 'X-Unfinished: '], atOnce: 600, trickle: true, leaveAfterMs: 5_000 },
    outcomes: ['ended', 200, 400, 403, 404, 408],
  },
];

/** The request as it goes over the wire. */
export function bytesOf({ line, headers = [], body }: CallerInput): Buffer {
  const bytes = body?.() ?? Buffer.alloc(0);
  const framed = headers.some((header) => /^(transfer-encoding|content-length):/i.test(header));
  const length = framed ? [] : [`Content-Length: ${bytes.length}`];
  const head = [`${line} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers, ...length, '', ''];
  return Buffer.concat([Buffer.from(head.join('\r\n')), bytes]);
}
