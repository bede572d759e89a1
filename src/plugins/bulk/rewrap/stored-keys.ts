import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { bodyFormat } from '../../../objects/format/formats.ts';
import { type StoredPartList, verifySeal } from '../../../objects/format/manifest.ts';
import {
  type Envelope,
  type KeyPurpose,
  type ObjectName,
  versionOfWrapped,
} from '../../../objects/format/metadata.ts';
import { type RewrapRecord, recordId, slotOf } from '../../../objects/format/rewrap-record.ts';
import type { Manifests } from '../../../objects/multipart/manifest-store.ts';
import type { TargetKeys, WrappedItem } from './target-keys.ts';

/** All wrapped keys stored with an object. */
export interface StoredKeys {
  readonly list: StoredPartList | undefined;
  /** The DEK of the object, or the seal key followed by the part DEKs. */
  readonly items: readonly [WrappedItem, ...WrappedItem[]];
  /** Id of the record that may replace them. */
  readonly id: string;
}

/** @throws EnvelopeError `manifest-missing`, `manifest-forged`, `malformed-metadata` */
export async function storedKeys(
  manifests: Pick<Manifests, 'find'>,
  name: ObjectName,
  { keys, format }: Envelope,
): Promise<StoredKeys> {
  if (keys.form === 'single') {
    const item = { wrapped: keys.dek, purpose: { kind: 'object', format } as const };
    return { list: undefined, items: [item], id: recordId(item.purpose, keys.dek) };
  }
  const list = keys.form === 'inline' ? keys.list : await manifests.find(name, keys.manifest);
  if (list === undefined)
    throw new EnvelopeError('manifest-missing', `the part list that the object names does not exist`);
  if (keys.form === 'pointer' && (list.manifest !== keys.manifest || list.seal !== keys.seal))
    throw new EnvelopeError('manifest-forged', 'the part list is not the one that the object names');
  const purpose = { kind: 'seal', upload: list.manifest, format: list.format } as const;
  const seal: WrappedItem = { wrapped: list.seal, purpose };
  if (list.format === 2) return { list, items: [seal], id: list.manifest };
  const parts = list.parts.map(({ n, dek }) => {
    const purpose: KeyPurpose = { kind: 'part', upload: list.manifest, number: n };
    return { wrapped: dek, purpose };
  });
  return { list, items: [seal, ...parts], id: list.manifest };
}

/** The oldest key version that any of them needs. */
export const oldestOf = (wrapped: readonly string[]): number => Math.min(...wrapped.map(versionOfWrapped));

/** The keys as recorded; undefined if the record does not have all of them. */
export function recordedKeys(
  record: RewrapRecord | undefined,
  { items }: StoredKeys,
): readonly WrappedItem[] | undefined {
  if (record === undefined) return undefined;
  const found = items.map(({ purpose }) => ({ purpose, wrapped: record.keys[slotOf(purpose)] }));
  return found.every((item): item is WrappedItem => item.wrapped !== undefined) ? found : undefined;
}

/** Number of keys in the clear at a time. */
const window = 64;

/**
 * Wraps all keys anew for their places, a few at a time.
 * @returns wrapped keys by slot
 * @throws EnvelopeError `manifest-forged` for a modified part list; errors of `TargetKeys.open`
 */
export async function wrapAll(
  target: TargetKeys,
  name: ObjectName,
  envelope: Envelope,
  { list, items }: StoredKeys,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const wrapped: Record<string, string> = {};
  for (let start = 0; start < items.length; start += window) {
    const some = items.slice(start, start + window);
    await target.open(
      name,
      envelope,
      some,
      async (keys) => {
        if (list !== undefined && start === 0) verifyUnder(keys[0] as Buffer, list);
        const plain = some.map(({ purpose }, index) => ({ purpose, key: keys[index] as Buffer }));
        const again = await target.wrap(name, envelope.binding, plain, signal);
        for (const [index, { purpose }] of some.entries())
          wrapped[slotOf(purpose)] = (again[index] as { ciphertext: string }).ciphertext;
      },
      signal,
    );
  }
  return wrapped;
}

/** @param key the list's `seal`, unwrapped */
function verifyUnder(key: Buffer, list: StoredPartList): void {
  const sealKey = bodyFormat(list.format).listKey(key, list.manifest);
  try {
    verifySeal(sealKey, list);
  } finally {
    if (sealKey !== key) sealKey.fill(0);
  }
}
