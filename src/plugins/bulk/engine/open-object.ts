import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { isEnvelopeHeader } from '../../../objects/format/metadata.ts';
import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { digestHeaders } from '../../../objects/read/small-object.ts';
import type { ObjectLayout, ObjectReader, StoredObject } from '../../../objects/read/stored-object.ts';
import { descriptionHeaders, unquote } from '../../../objects/s3/headers.ts';
import { refusal, type Upstream } from '../../../objects/upstream/upstream.ts';

/** Plaintext in transit; authentic only once `chunks` has ended without error. */
export interface OpenedObject {
  readonly encrypted: boolean;
  readonly etag: string;
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  /**
   * The object's metadata, including an MD5 that its writer named, and content headers.
   * @throws EnvelopeError `record-forged`
   */
  headers(): Promise<Record<string, string>>;
}

export interface ObjectReading {
  readonly upstream: Upstream;
  readonly reader: ObjectReader;
}

/** Releases the resources of `read` when it ends. */
export async function during<T>(signal: AbortSignal, read: (user: ListUser) => Promise<T>): Promise<T> {
  const ends: (() => void)[] = [];
  try {
    return await read({ signal, atEnd: (release) => void ends.push(release) });
  } finally {
    for (const release of ends) release();
  }
}

export async function open(
  { upstream, reader }: ObjectReading,
  bucket: string,
  key: string,
  user: ListUser,
): Promise<OpenedObject> {
  const name = { bucket, key };
  const response = await upstream.send({ method: 'GET', ...name, signal: user.signal });
  if (response.status >= 300) throw await refusal(response);
  user.atEnd(() => response.body.close());
  if (response.status !== 200)
    throw new EnvelopeError('wrong-size', `the store answered ${response.status} to a request for the whole`);
  const object = reader.describe({ name, versionId: undefined, access: {} }, response.headers);
  const layout = await reader.layout(object, user);
  return {
    encrypted: object.envelope !== undefined,
    etag: unquote(object.etag),
    size: layout.size,
    chunks: reader.decrypt(object, layout, response, user),
    headers: () => ownHeaders(reader, object, layout, user.signal),
  };
}

async function ownHeaders(
  reader: ObjectReader,
  object: StoredObject,
  layout: ObjectLayout,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(object.headers))
    if (typeof value === 'string' && isOwn(name)) own[name] = value;
  if (object.envelope?.md5 === undefined) return own;
  return { ...own, ...digestHeaders(await reader.digests(object, layout, signal), { checksum: false }) };
}

/** `x-amz-meta-svc-…` headers that are not of the envelope are ordinary metadata. */
const isOwn = (name: string): boolean =>
  descriptionHeaders.includes(name) ||
  name === 'x-amz-website-redirect-location' ||
  (name.startsWith('x-amz-meta-') && !isEnvelopeHeader(name));
