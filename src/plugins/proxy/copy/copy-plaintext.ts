import type { ObjectName } from '../../../core/envelope/binding.ts';
import type { ProxyContext } from '../context.ts';
import { versionQuery } from '../read/fetch-stored.ts';
import type { StoredObject } from '../read/object-reader.ts';
import { readBody } from '../upstream/read-body.ts';
import { refusal } from '../upstream/refusal.ts';
import { encryptToStore } from '../write/encrypt-to-store.ts';
import { objectHeaders } from '../write/put-object.ts';
import { verifyStored } from '../write/verify-stored.ts';
import type { Copied } from './copied.ts';
import { type CopyRequest, directive } from './copy-request.ts';
import type { SourceObject } from './copy-source-object.ts';
import { destinationHeaders } from './destination-headers.ts';
import { taggingHeader } from './tagging.ts';

const taggingDirective = 'x-amz-tagging-directive';
const taggingLimit = 64 * 1024;

/** A source that is not encrypted is read and written anew: no copy through the proxy leaves plaintext. */
export async function copyPlaintext(
  context: ProxyContext,
  copy: CopyRequest,
  { object, layout }: SourceObject,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Copied> {
  const { [taggingDirective]: asked, ...headers } = destinationHeaders(copy, object);
  const tags = directive(copy.headers, taggingDirective) === 'COPY' ? await copiedTags(context, object) : {};
  const stored = await encryptToStore(context, {
    name: to,
    purpose: { kind: 'object' },
    source: context.reader.plaintext(object, layout, undefined, { signal }),
    length: layout.size,
    signal,
    request: (key) => ({
      method: 'PUT',
      ...to,
      headers: objectHeaders({ ...headers, ...tags }, key, context.keys.scheme),
      signal,
    }),
  });
  if (context.config.upstreamChecksum === 'none') await verifyStored(context, to, stored, copy.headers);
  return { etag: `"${stored.etag}"`, lastModified: undefined, headers: stored.headers };
}

async function copiedTags({ upstream }: ProxyContext, object: StoredObject): Promise<Record<string, string>> {
  if (object.headers['x-amz-tagging-count'] === undefined) return {};
  const response = await upstream.send({
    method: 'GET',
    ...object.name,
    query: [['tagging', ''], ...versionQuery(object)],
    headers: object.access,
  });
  if (response.status !== 200) throw await refusal(response);
  return {
    'x-amz-tagging': taggingHeader((await readBody(response, taggingLimit)).toString(), taggingLimit),
  };
}
