export interface Deletable {
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** Every version and delete marker below a prefix, in pages of at most 1,000. */
export type VersionPages = (prefix: string) => AsyncIterable<readonly Deletable[]>;

/** DeleteObjects takes no more. */
const batchSize = 1_000;

/**
 * What has to be deleted so that nothing of `keys` remains, in batches that one DeleteObjects
 * takes. With `versions`, each version and delete marker is named.
 */
export async function* deletableObjects(
  keys: readonly string[],
  versions: VersionPages | undefined,
  reservedPrefix: string,
): AsyncGenerator<Deletable[]> {
  if (versions === undefined) {
    for (let start = 0; start < keys.length; start += batchSize)
      yield keys.slice(start, start + batchSize).map((key) => ({ key }));
    return;
  }
  for (const [prefix, wanted] of byFolder(keys, reservedPrefix)) {
    for await (const page of versions(prefix)) {
      const batch = page.filter(({ key }) => wanted.has(key));
      if (batch.length > 0) yield batch;
    }
  }
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
