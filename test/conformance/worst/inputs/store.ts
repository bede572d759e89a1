import { createHash } from 'node:crypto';
import { lyingEnvelope, manifestPointer, wrappedKey } from '../../../support/envelope-headers.ts';
import type { AnswerKind } from '../input.ts';
import { filled, KiB, MiB, numbered, once, worstJson, worstXml } from './pieces.ts';

/** What a caller asks for, in a bucket of the input's own. */
export interface Ask {
  readonly method: string;
  /** Below the bucket: `/key?query`. */
  readonly path: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** What the store answers; `raw` is a whole response as it goes over the wire. */
export type Lie =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: Buffer }
  | { readonly raw: Buffer };

/** A lie of the store about a request of the proxy. */
export interface StoreInput {
  readonly name: string;
  readonly ask: Ask;
  /** @param path below the bucket, with its query. @returns undefined: an empty answer */
  readonly lie: (request: { readonly method: string; readonly path: string }) => Lie | undefined;
  readonly outcomes: readonly AnswerKind[];
}

/** A store that lies is answered like one that fails. */
const failed = [400, 403, 404, 409, 500, 502] as const;
const read = [200, 206, ...failed] as const;

const get = (path: string): Ask => ({ method: 'GET', path });

/** Every request gets this. */
function always(make: () => Buffer, status = 200): () => Lie {
  const body = once(make);
  return () => ({ status, headers: { 'content-type': 'application/xml' }, body: body() });
}

const xmlLies = (
  what: string,
  ask: Ask,
  root: string,
  entry: string,
  bytes: number,
  outcomes: readonly AnswerKind[] = read,
): StoreInput[] =>
  Object.entries(worstXml(root, bytes, entry)).map(([name, make]) => ({
    ...{ name: `store's ${what}: ${name}`, ask, lie: always(make), outcomes },
  }));

const longKeys = () =>
  filled(
    8 * MiB - 1,
    '<ListBucketResult><Name>bucket</Name><KeyCount>1000</KeyCount><IsTruncated>false</IsTruncated>',
    (index) =>
      index < 1_000
        ? `<Contents><Key>${'&amp;'.repeat(1_000)}${index}</Key><Size>33</Size><ETag>"${'a'.repeat(32)}"</ETag></Contents>`
        : ' '.repeat(8 * MiB),
    '</ListBucketResult>',
  );

const tenThousand = (root: string, entry: (index: number) => string) => () =>
  filled(
    8 * MiB,
    `<${root}>`,
    (index) => (index < 10_000 ? entry(index) : ' '.repeat(8 * MiB)),
    `</${root}>`,
  );

const listings: readonly StoreInput[] = [
  ...xmlLies('listing', get('/?list-type=2'), 'ListBucketResult', 'Contents', 8 * MiB),
  {
    ...{ name: "store's listing: the longest keys", ask: get('/?list-type=2'), outcomes: [200] },
    lie: always(longKeys),
  },
  {
    ...{ name: "store's listing: 10,000 entries of all fields", ask: get('/?list-type=2'), outcomes: read },
    lie: always(
      tenThousand(
        'ListBucketResult',
        (index) =>
          `<Contents><Key>${index}${'k'.repeat(500)}</Key><Size>${index}</Size><ETag>"${index}"</ETag><LastModified>2026</LastModified></Contents>`,
      ),
    ),
  },
  {
    ...{ name: "store's versions: 10,000 entries of all fields", ask: get('/?versions'), outcomes: read },
    lie: always(
      tenThousand(
        'ListVersionsResult',
        (index) =>
          `<Version><Key>${index}${'k'.repeat(500)}</Key><VersionId>${index}</VersionId><Size>1</Size><ETag>"a"</ETag></Version>`,
      ),
    ),
  },
  {
    ...{ name: "store's parts: 10,000 with five checksums each", ask: get('/x?uploadId=a'), outcomes: read },
    lie: always(
      tenThousand(
        'ListPartsResult',
        (index) =>
          `<Part><PartNumber>${index + 1}</PartNumber><Size>60</Size><ETag>"a"</ETag>${'<ChecksumCRC32>AAAAAA==</ChecksumCRC32>'.repeat(5)}</Part>`,
      ),
    ),
  },
  {
    ...{ name: "store's attributes: 10,000 parts", ask: get('/x?attributes'), outcomes: read },
    lie: always(
      tenThousand(
        'GetObjectAttributesOutput',
        (index) => `<Part><PartNumber>${index + 1}</PartNumber><Size>60</Size></Part>`,
      ),
    ),
  },
  ...xmlLies('uploads', get('/?uploads'), 'ListMultipartUploadsResult', 'Upload', 4 * MiB),
];

const removal: Ask = {
  ...{ method: 'POST', path: '/?delete' },
  body: '<Delete><Object><Key>a</Key></Object><Object><Key>.svc/x</Key></Object></Delete>',
};

const errorOf = (piece: string) => () =>
  filled(8 * MiB, '<Error><Code>NoSuchKey</Code><Message>', piece, '</Message></Error>');

const results: readonly StoreInput[] = [
  ...xmlLies('DeleteResult', removal, 'DeleteResult', 'Deleted', 8 * MiB),
  ...xmlLies(
    'InitiateMultipartUploadResult',
    { method: 'POST', path: '/x?uploads' },
    'InitiateMultipartUploadResult',
    'UploadId',
    64 * KiB,
  ),
  {
    ...{ name: "store's error: 8 MiB of entities", ask: get('/x'), outcomes: failed },
    lie: always(errorOf('&amp;'), 404),
  },
  {
    ...{ name: "store's error: 8 MiB of beginnings", ask: get('/x'), outcomes: failed },
    lie: always(errorOf('<Code>'), 404),
  },
];

/** The object names a manifest, or keys that only a record unwraps; the store answers the helper object as it likes. */
const helper = (
  what: string,
  folder: string,
  keys: string,
  lies: Readonly<Record<string, () => Buffer>>,
): StoreInput[] =>
  Object.entries(lies).map(([name, make]) => {
    const body = once(make);
    const lie: StoreInput['lie'] = ({ path }) =>
      path.includes(folder)
        ? { headers: { 'content-type': 'application/octet-stream' }, body: body() }
        : { headers: { ...lyingEnvelope(keys), 'content-length': '1000' }, body: Buffer.alloc(1_000) };
    return { name: `store's ${what}: ${name}`, ask: get('/x'), lie, outcomes: failed };
  });

const helpers: readonly StoreInput[] = [
  ...helper(
    'manifest',
    '/.svc/manifests/',
    manifestPointer,
    worstJson(8 * MiB - 1, '{"v":1,"bucket":"b","key":"k","list":'),
  ),
  ...helper(
    'record of rewrapped keys',
    '/.svc/rewraps/',
    wrappedKey,
    worstJson(8 * MiB - 1, '{"v":1,"keys":'),
  ),
  ...Object.entries(worstJson(64 * KiB - 1, '{"v":2,"repeat":')).map(
    ([name, make]): StoreInput => ({
      name: `store's record of an upload: ${name}`,
      ask: { method: 'PUT', path: '/x?partNumber=1&uploadId=a', body: 'x' },
      lie: always(make),
      outcomes: failed,
    }),
  ),
];

/** The hash of an upload's id in the names of its records. */
const uploadFolder = `.svc/uploads/${createHash('sha256').update('a').digest('hex')}/`;

/** A record as the proxy writes it for part 1, which is sent again and again. */
function record(index: number): string {
  const tag = Buffer.from(createHash('md5').update(String(index)).digest('hex')).toString('base64url');
  const dek = Buffer.alloc(60, 1).toString('base64url');
  return `00001/${tag}/-/${Buffer.alloc(12, 1).toString('base64url')}/8/v1.${dek}`;
}

/** The page of a listing of so many records, 1,000 at a time, that the path asks for. */
export function endless(prefix: string, path: string, count: number): Buffer {
  const [, after = '0'] = /continuation-token=(\d+)/.exec(path) ?? [];
  const next = Number(after) + 1_000;
  const entries = Array.from({ length: 1_000 }, (_, index) => {
    const key = `${prefix}${record(Number(after) + index)}`;
    return `<Contents><Key>${key}</Key><Size>0</Size><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>`;
  });
  const more = `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`;
  return Buffer.from(`<ListBucketResult>${next < count ? more : ''}${entries.join('')}</ListBucketResult>`);
}

const xml = (text: string, status = 200): Lie => ({ status, body: Buffer.from(text) });

const pages: readonly StoreInput[] = [
  {
    name: 'DeleteBucket of a bucket with 90,000 records of parts',
    ask: { method: 'DELETE', path: '' },
    lie({ method, path }) {
      if (path.includes('versioning')) return xml('<VersioningConfiguration/>');
      if (path.includes('uploads=')) return xml('<ListMultipartUploadsResult/>');
      if (path.includes('list-type=2')) return { body: endless(uploadFolder, path, 90_000) };
      if (method === 'POST') return xml('<DeleteResult/>');
      return xml('<Error><Code>BucketNotEmpty</Code></Error>', 409);
    },
    outcomes: [204, ...failed],
  },
  {
    name: 'Abort of an upload with 90,000 records of parts',
    ask: { method: 'DELETE', path: '/x?uploadId=a' },
    lie({ method, path }) {
      if (path.includes('versioning')) return xml('<VersioningConfiguration/>');
      if (path.includes('list-type=2')) return { body: endless(uploadFolder, path, 90_000) };
      return method === 'POST' ? xml('<DeleteResult/>') : { status: 204 };
    },
    outcomes: [204, ...failed],
  },
];

const head = (lines: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`);

const heads: readonly StoreInput[] = [
  {
    ...{ name: "store's head: as many headers as fit", ask: get('/x'), outcomes: read },
    lie: () => ({
      raw: head(
        `${Array.from({ length: 9_000 }, (_, index) => `${numbered(index)}:\r\n`).join('')}content-length: 0\r\n`,
      ),
    }),
  },
  {
    ...{ name: "store's head: one header again and again", ask: get('/x'), outcomes: read },
    lie: () => ({ raw: head(`${'a:\r\n'.repeat(16_000)}content-length: 0\r\n`) }),
  },
  {
    ...{ name: "store's head: interim answers without end", ask: get('/x'), outcomes: failed },
    lie: () => ({ raw: Buffer.from('HTTP/1.1 102 a\r\n\r\n'.repeat(500_000)) }),
  },
  {
    ...{ name: "store's listing in chunks of one byte", ask: get('/?list-type=2'), outcomes: read },
    lie: () => ({ raw: Buffer.concat([head('transfer-encoding: chunked\r\n'), chunksOfOne(MiB, '<')]) }),
  },
  {
    ...{ name: "store's object in chunks of one byte", ask: get('/x'), outcomes: [200, 'ended', ...failed] },
    lie: () => ({ raw: Buffer.concat([head('transfer-encoding: chunked\r\n'), chunksOfOne(MiB, 'x')]) }),
  },
  {
    ...{ name: "store's error in chunks of one byte", ask: get('/x'), outcomes: failed },
    lie: () => ({
      raw: Buffer.concat([
        Buffer.from('HTTP/1.1 404 a\r\ntransfer-encoding: chunked\r\n\r\n'),
        chunksOfOne(MiB, '<'),
      ]),
    }),
  },
];

export const chunksOfOne = (count: number, byte: string): Buffer =>
  Buffer.from(`${`1\r\n${byte}\r\n`.repeat(count)}0\r\n\r\n`);

export const storeInputs: readonly StoreInput[] = [...listings, ...results, ...helpers, ...pages, ...heads];
