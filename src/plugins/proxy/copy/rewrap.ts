import { randomBytes } from 'node:crypto';
import type { ObjectName } from '../../../core/envelope/binding.ts';
import { type PartEntry, type PartList, sealMac } from '../../../core/envelope/manifest.ts';
import type { Envelope } from '../../../core/envelope/metadata.ts';
import type { WrappedKey } from '../../../runtime/vault/contract.ts';
import type { ProxyContext } from '../context.ts';

type Keys = ProxyContext['keys'];

/** Parts whose keys are in the clear at a time. */
const window = 64;

/** An object in one piece under another name: its DEK wrapped for that name under the latest KEK version. */
export async function rewrapSingle(
  keys: Keys,
  from: { readonly name: ObjectName; readonly envelope: Envelope; readonly dek: string },
  to: ObjectName,
  signal: AbortSignal,
): Promise<WrappedKey> {
  const purpose = { kind: 'object' } as const;
  const unwrapped = await keys.unwrap(from.name, from.envelope, [{ wrapped: from.dek, purpose }], signal);
  return wrapAndForget(keys, to, unwrapped, [purpose], signal).then(([key]) => key as WrappedKey);
}

/** The parts of a copied object: each DEK wrapped again, under a seal of its own. */
export async function rewrapParts(
  keys: Keys,
  from: { readonly name: ObjectName; readonly envelope: Envelope; readonly list: PartList },
  to: ObjectName,
  signal: AbortSignal,
): Promise<{ readonly list: PartList; readonly keyVersion: number }> {
  const manifest = randomBytes(16).toString('base64url');
  const parts: PartEntry[] = [];
  for (let start = 0; start < from.list.parts.length; start += window) {
    const batch = from.list.parts.slice(start, start + window);
    parts.push(...(await rewrapBatch(keys, from, to, batch, manifest, signal)));
  }
  return sealed(keys, to, manifest, parts, signal);
}

async function rewrapBatch(
  keys: Keys,
  { name, envelope, list }: { name: ObjectName; envelope: Envelope; list: PartList },
  to: ObjectName,
  batch: readonly PartEntry[],
  manifest: string,
  signal: AbortSignal,
): Promise<PartEntry[]> {
  const purposes = (upload: string) => batch.map(({ n }) => ({ kind: 'part', upload, number: n }) as const);
  const before = purposes(list.manifest);
  const items = batch.map(({ dek }, index) => ({
    wrapped: dek,
    purpose: before[index] as (typeof before)[0],
  }));
  const unwrapped = await keys.unwrap(name, envelope, items, signal);
  const wrapped = await wrapAndForget(keys, to, unwrapped, purposes(manifest), signal);
  return batch.map((part, index) => ({ ...part, dek: (wrapped[index] as WrappedKey).ciphertext }));
}

async function wrapAndForget(
  keys: Keys,
  to: ObjectName,
  unwrapped: readonly Buffer[],
  purposes: readonly Parameters<Keys['wrap']>[1][number]['purpose'][],
  signal: AbortSignal,
): Promise<WrappedKey[]> {
  try {
    const items = unwrapped.map((key, index) => ({ key, purpose: purposes[index] as (typeof purposes)[0] }));
    return await keys.wrap(to, items, signal);
  } finally {
    for (const key of unwrapped) key.fill(0);
  }
}

async function sealed(
  keys: Keys,
  to: ObjectName,
  manifest: string,
  parts: readonly PartEntry[],
  signal: AbortSignal,
): Promise<{ list: PartList; keyVersion: number }> {
  const [seal] = await keys.create(to, [{ kind: 'seal', upload: manifest }], signal);
  if (seal === undefined) throw new TypeError('a purpose without a key');
  try {
    const list = { manifest, parts, seal: seal.ciphertext, mac: sealMac(seal.key, manifest, parts) };
    return { list, keyVersion: seal.keyVersion };
  } finally {
    seal.key.fill(0);
  }
}
