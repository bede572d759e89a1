import { createHash } from 'node:crypto';
import { RequestSigner, type SigningCredentials } from '../../../../../src/objects/s3/sigv4-sign.ts';
import { type RawAnswer, rawHttp } from '../../../../support/raw-http.ts';
import { type Rig, startRig } from '../../../../support/rig.ts';
import type { ObjectStore, Stoppable } from '../../../../support/types.ts';
import type { Row } from './table.ts';

/** What is compared of an answer. */
export interface Told {
  readonly status: number;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** Beside code and message. */
  readonly details?: readonly (string | undefined)[];
  readonly headers: Readonly<Record<string, string>>;
  /** Of a success; of documents, which hold dates and ids, the codes of errors in them. */
  readonly body?: string | undefined;
}

/** The store itself, or the proxy in front of it, with buckets of its own. */
export interface Side {
  readonly url: string;
  readonly keys: SigningCredentials;
  readonly variables: Record<string, string>;
}

export interface Parity extends Stoppable {
  readonly rig: Rig;
  readonly store: Side;
  readonly proxy: Side;
}

const caller = { accessKeyId: 'AKCALLER', secretAccessKey: 'the-secret-of-callers' };

/** @throws ToolUnavailable where the store cannot be had */
export async function startParity(kind: ObjectStore['kind']): Promise<Parity> {
  const rig = await startRig({ kind, versioning: true });
  const env = {
    SVC_PROXY_ACCESS_KEY_ID: caller.accessKeyId,
    SVC_PROXY_SECRET_ACCESS_KEY: caller.secretAccessKey,
  };
  const { url } = await rig.proxy({ env });
  const store = await prepared(rig, { url: rig.store.url, keys: rig.store, variables: {} }, 'bare');
  const proxy = await prepared(rig, { url, keys: caller, variables: {} }, 'sealed');
  return { rig, store, proxy, stop: () => rig.stop() };
}

const part = 'p'.repeat(5 * 1024 * 1024);

/** Buckets with an object in one piece, an empty one and one in parts, and an open upload. */
async function prepared(rig: Rig, side: Side, name: string): Promise<Side> {
  const { variables } = side;
  variables.bucket = name;
  variables.versioned = `${name}-versioned`;
  variables.locked = `${name}-locked`;
  variables.access = side.keys.accessKeyId;
  variables.time = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  variables.date = variables.time.slice(0, 8);
  await rig.store.createBucket(variables.bucket);
  await rig.store.createBucket(variables.versioned, { versioning: true });
  await rig.store.createBucket(variables.locked, { objectLock: true });
  const put = async (path: string, body: string) =>
    succeeded(await send(side, { method: 'PUT', path, body }));
  const ten = await put('/{bucket}/ten', '0123456789');
  variables.etag = String(ten.headers.etag);
  await put('/{bucket}/empty', '');
  await put('/{bucket}/dated', 'x');
  const dated = await send(side, { method: 'HEAD', path: '/{bucket}/dated' });
  variables.modified = String(dated.headers['last-modified']);
  await put('/{bucket}/b%2Bl%20a%3Fn%25k', 'odd');
  const versioned = await put('/{versioned}/ten', '0123456789');
  variables.version = String(versioned.headers['x-amz-version-id']);
  await put('/{versioned}/gone', 'x');
  const removed = await send(side, { method: 'DELETE', path: '/{versioned}/gone' });
  variables.utf8 = Buffer.from('grün €').toString('latin1');
  variables.marker = String(removed.headers['x-amz-version-id']);
  variables.upload = await beginUpload(side, '/{bucket}/open');
  await putParts(side, 'parts', [part, 'last']);
  await putParts(
    side,
    'described',
    ['one'],
    [
      ['x-amz-meta-MiXed.Case_', 'Va  Lue'],
      ['x-amz-meta-empty', ''],
      ['x-amz-meta-utf8', '{utf8}'],
      ['cache-control', 'no-cache'],
      ['content-type', 'text/plain; charset=utf-8'],
    ],
  );
  return side;
}

async function putParts(
  side: Side,
  key: string,
  bodies: readonly string[],
  lines: Row['lines'] = [],
): Promise<void> {
  const path = `/{bucket}/${key}`;
  const upload = await beginUpload(side, path, lines);
  const parts = [];
  for (const [index, body] of bodies.entries()) {
    const query = `partNumber=${index + 1}&uploadId=${upload}`;
    const { headers } = succeeded(await send(side, { method: 'PUT', path: `${path}?${query}`, body }));
    parts.push(`<Part><PartNumber>${index + 1}</PartNumber><ETag>${headers.etag}</ETag></Part>`);
  }
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  succeeded(await send(side, { method: 'POST', path: `${path}?uploadId=${upload}`, body }));
}

async function beginUpload(side: Side, path: string, lines: Row['lines'] = []): Promise<string> {
  const { body } = succeeded(await send(side, { method: 'POST', path: `${path}?uploads`, lines }));
  return /<UploadId>([^<]+)</.exec(body.toString())?.[1] ?? '';
}

function succeeded(answer: RawAnswer): RawAnswer {
  if (answer.status === 200) return answer;
  throw new Error(`could not prepare: ${answer.status} ${answer.body}`);
}

/** `{2047}` stands for as many letters. */
const fill = (text: string, variables: Record<string, string>) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    /^\d+$/.test(name) ? 'x'.repeat(Number(name)) : (variables[name] ?? whole),
  );

/** Sends a request as it stands; repeated headers go out as lines of their own. */
export async function send(side: Side, row: Partial<Row> & Pick<Row, 'path'>): Promise<RawAnswer> {
  const { method = 'GET', lines = [], signed = true } = row;
  const target = fill(row.path, side.variables);
  const body = Buffer.from(fill(row.body ?? '', side.variables));
  const values = new Map<string, string[]>();
  for (const [name, value] of lines)
    values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), fill(value, side.variables)]);
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const headers = signed ? authorized(side, { method, path, query, body, values }) : {};
  return rawHttp(`${side.url}${target}`, {
    method,
    headers: { ...headers, ...Object.fromEntries(values) },
    body,
  });
}

interface Unsigned {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Buffer;
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** SigV4 joins the values of a repeated header with a comma. */
function authorized({ url, keys }: Side, { method, path, query, body, values }: Unsigned) {
  const joined = Object.fromEntries(
    [...values].map(([name, list]) => [name, list.map((value) => value.trim()).join(',')]),
  );
  const payload =
    values.get('x-amz-content-sha256')?.[0]?.trim() ?? createHash('sha256').update(body).digest('hex');
  const headers = { ...joined, host: new URL(url).host };
  return new RequestSigner('us-east-1').sign({ method, path, query, headers, payload }, keys).headers;
}

const details = ['ArgumentName', 'ArgumentValue', 'Condition', 'Content-MD5', 'Method', 'ResourceType'];

/** Not the metadata that the proxy adds: its envelope, and the MD5 that a caller has named in Content-MD5. */
const compared =
  /^(?:content-(?:type|length|range|encoding|disposition|language)|cache-control|expires|access-control-[a-z-]+|x-amz-(?:mp-parts-count|delete-marker|missing-meta|meta-(?!svc|md5chksum$).*|tagging-count))$/;

const codesIn = (text: string) => text.match(/<Code>\w+/g)?.join() ?? '';

/** The list of headers that a page may read has those of the envelope, too. */
const withoutOwn = (value: string) => value.replaceAll(/, x-amz-meta-svc-[a-z-]+/g, '');

const inGeneral = (detail: string | undefined) =>
  detail?.replace(/\b(?:bare|sealed)\b/g, '{bucket}') || undefined;

/**
 * What an answer tells a client, but for what differs by nature: ids, dates, ETags, sizes of documents, and the words of
 * MinIO, which are not those of S3.
 */
export function told(answer: RawAnswer, kind: ObjectStore['kind']): Told {
  const text = answer.body.toString();
  const isDocument = /^\s*(?:<\?xml|<[A-Z])/.test(text);
  const field = (name: string) =>
    new RegExp(`<${name}>([^<]*)</${name}>`)
      .exec(text)?.[1]
      ?.replaceAll(/&(?:#39|apos);/g, "'")
      .replaceAll(/&(?:#34|quot);/g, '"')
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<');
  const headers = Object.fromEntries(
    Object.entries(answer.headers)
      .sort()
      .flatMap(([name, value]) =>
        compared.test(name) && !(isDocument && name === 'content-length')
          ? [[name, withoutOwn(String(value))]]
          : [],
      ),
  );
  if (answer.status >= 300)
    return {
      status: answer.status,
      code: field('Code'),
      message: kind === 'minio' ? undefined : field('Message')?.replace(/\.$/, ''),
      details: kind === 'minio' ? [] : details.map((name) => inGeneral(field(name))),
      headers: {},
    };
  return { status: answer.status, headers, body: isDocument ? codesIn(text) : text.slice(0, 200) };
}
