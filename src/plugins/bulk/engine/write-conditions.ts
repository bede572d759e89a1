import type { ObjectName } from '../../../objects/format/metadata.ts';
import { unquote } from '../../../objects/s3/headers.ts';
import { copySourceHeader } from '../../../objects/s3/request.ts';
import { completeMultipartXml } from '../../../objects/s3/request-documents.ts';
import {
  refusal,
  type Upstream,
  type UpstreamResponse,
  xmlResult,
} from '../../../objects/upstream/upstream.ts';

const noSuchEtag = '"00000000000000000000000000000000"';
const wrong = { 'if-match': noSuchEtag };
const answerLimit = 64 * 1024;
const createdUpload = { root: 'InitiateMultipartUploadResult', fields: ['UploadId'] };

/** Writes for which a store ignores conditions on the object they replace. */
export type Unconditional = 'PutObject' | 'CompleteMultipartUpload';

/**
 * Tests with a helper object whether the store refuses to replace another object than the write expects. A store that
 * does not would lose what somebody writes between our read and our write.
 * @param helper name of the helper object, which is removed at the end
 * @throws S3Error if the store refuses the helper object itself
 */
export async function unconditionalWrites(
  upstream: Upstream,
  helper: ObjectName,
  signal: AbortSignal,
): Promise<readonly Unconditional[]> {
  return withHelper(upstream, helper, signal, async (refuses) => {
    const put = await refuses(upstream.send({ method: 'PUT', ...helper, headers: wrong, signal }));
    const completed = await refuses(completeAgainst(upstream, helper, signal));
    return [
      ...(put ? [] : (['PutObject'] as const)),
      ...(completed ? [] : (['CompleteMultipartUpload'] as const)),
    ];
  });
}

/**
 * Whether the store enforces conditions on what a copy replaces.
 * @param helper name of the helper object, which is removed at the end
 * @throws S3Error if the store refuses the helper object itself
 */
export async function keepsConditions(
  upstream: Upstream,
  helper: ObjectName,
  signal: AbortSignal,
): Promise<boolean> {
  const copying = { 'x-amz-copy-source': copySourceHeader(helper), 'x-amz-metadata-directive': 'REPLACE' };
  return withHelper(upstream, helper, signal, (refuses) =>
    refuses(upstream.send({ method: 'PUT', ...helper, headers: { ...copying, ...wrong }, signal })),
  );
}

/** Whether the store refuses a write because of its condition. */
type Refuses = (writing: Promise<UpstreamResponse>) => Promise<boolean>;

async function withHelper<T>(
  upstream: Upstream,
  helper: ObjectName,
  signal: AbortSignal,
  probe: (refuses: Refuses) => Promise<T>,
): Promise<T> {
  const versions: string[] = [];
  const note = ({ headers, body }: UpstreamResponse) => {
    const version = headers['x-amz-version-id'];
    if (typeof version === 'string') versions.push(version);
    body.resume();
  };
  try {
    const written = await upstream.send({ method: 'PUT', ...helper, signal });
    if (written.status !== 200) throw await refusal(written);
    note(written);
    return await probe(async (writing) => {
      const answer = await writing;
      note(answer);
      return answer.status === 412;
    });
  } finally {
    await remove(upstream, helper, versions);
  }
}

async function completeAgainst(
  upstream: Upstream,
  helper: ObjectName,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const created = await upstream.send({ method: 'POST', ...helper, query: [['uploads', '']], signal });
  const { top } = await xmlResult(created, createdUpload, answerLimit);
  const upload: [string, string] = ['uploadId', top.get('UploadId') ?? ''];
  const query: [string, string][] = [['partNumber', '1'], upload];
  const part = await upstream.send({ method: 'PUT', ...helper, query, signal }, Buffer.from('probe'));
  if (part.status !== 200) throw await refusal(part);
  part.body.resume();
  const list = completeMultipartXml([{ partNumber: 1, etag: unquote(part.headers.etag ?? '') }]);
  const headers = { ...wrong, 'content-type': 'application/xml' };
  const completed = await upstream.send(
    { method: 'POST', ...helper, query: [upload], headers, signal },
    list,
  );
  const aborted = await upstream.send({ method: 'DELETE', ...helper, query: [upload] });
  aborted.body.resume();
  return completed;
}

/** Deletes by version id, so that no version stays behind a delete marker. */
async function remove(upstream: Upstream, helper: ObjectName, versions: readonly string[]): Promise<void> {
  const queries =
    versions.length === 0 ? [[]] : versions.map((id) => [['versionId', id] as [string, string]]);
  for (const query of queries) {
    const deleted = await upstream.send({ method: 'DELETE', ...helper, query });
    deleted.body.resume();
  }
}
