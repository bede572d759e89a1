import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';

export interface Deletable {
  readonly Key: string;
  readonly VersionId?: string | undefined;
}

/** DeleteObjects takes no more. */
const batchSize = 1_000;

/**
 * What has to be deleted so that nothing of `keys` remains, in batches. With
 * `versions`, each version and delete marker is named.
 */
export async function* deletableObjects(
  client: S3Client,
  bucket: string,
  keys: readonly string[],
  versions: boolean,
  reservedPrefix: string,
): AsyncGenerator<Deletable[]> {
  if (!versions) {
    for (let start = 0; start < keys.length; start += batchSize)
      yield keys.slice(start, start + batchSize).map((Key) => ({ Key }));
    return;
  }
  for (const [prefix, wanted] of byFolder(keys, reservedPrefix))
    yield* versionsOf(client, bucket, prefix, wanted);
}

/** Keys by the folder of their upload or object, which is listed once for all of them. */
function byFolder(keys: readonly string[], reservedPrefix: string): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const key of keys) {
    const folder = folderOf(key, reservedPrefix);
    const known = folders.get(folder);
    if (known) known.add(key);
    else folders.set(folder, new Set([key]));
  }
  return folders;
}

/** `<reserved>uploads/<hash>/` or `<reserved>manifests/<hash>/`; any other key stands for itself. */
function folderOf(key: string, reservedPrefix: string): string {
  if (!key.startsWith(reservedPrefix)) return key;
  const [kind, hash, ...rest] = key.slice(reservedPrefix.length).split('/');
  return rest.length === 0 ? key : `${reservedPrefix}${kind}/${hash}/`;
}

async function* versionsOf(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  wanted: ReadonlySet<string>,
): AsyncGenerator<Deletable[]> {
  let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {};
  while (from) {
    const page: ListObjectVersionsCommandOutput = await client.send(
      new ListObjectVersionsCommand({ Bucket, Prefix, ...from }),
    );
    const found = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
    const batch = found.flatMap(({ Key = '', VersionId }) => (wanted.has(Key) ? [{ Key, VersionId }] : []));
    if (batch.length > 0) yield batch;
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
      : undefined;
  }
}

/** @throws Error naming the first object that could not be deleted */
export async function deleteObjects(client: S3Client, Bucket: string, Objects: Deletable[]): Promise<void> {
  const { Errors = [] } = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
  );
  const [first] = Errors;
  if (first)
    throw Object.assign(new Error('an object could not be deleted'), { name: first.Code ?? 'unknown' });
}
