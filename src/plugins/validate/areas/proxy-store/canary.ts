import { randomBytes } from 'node:crypto';
import { shared } from '../../shared.ts';
import type { S3Endpoint, StoreAccess, StoredObject } from '../../store/contract.ts';
import { askStore, refusalOf, statusOf } from '../../store/failure.ts';

export interface Canary {
  /** Of the object: `photos/svc-validate/canary-…`. */
  readonly subject: string;
  readonly plaintext: Buffer;
  /** Why the proxy did not take it. */
  readonly refusal?: string;
  /** As the store holds it; undefined where it was not taken. */
  readonly stored?: StoredObject;
  /** As the proxy gives it back, or why it does not. */
  readonly returned?: Buffer | string;
  /** It could not be removed again. */
  readonly left?: boolean;
}

/** An object that is written through the proxy, read at the store and through the proxy, and removed again. */
export const canary = shared(async (context): Promise<Canary> => {
  const store = await context.store();
  await askStore(store.direct, 's3:ListBucket', store.direct.hasBucket(context.signal));
  const object: CanaryObject = {
    ...{ store, proxied: await store.proxied(), signal: context.signal },
    key: `svc-validate/canary-${randomBytes(9).toString('hex')}`,
    plaintext: randomBytes(64),
  };
  const known = { subject: `${store.bucket}/${object.key}`, plaintext: object.plaintext };
  const refusal = await written(object);
  if (refusal !== undefined) {
    await isRemoved(object, undefined);
    return { ...known, refusal };
  }
  return { ...known, ...(await readAndRemoved(object)) };
});

interface CanaryObject {
  readonly store: StoreAccess;
  readonly proxied: S3Endpoint;
  readonly key: string;
  readonly plaintext: Buffer;
  readonly signal: AbortSignal;
}

/** @returns why the proxy did not take it */
async function written({ proxied, key, plaintext, signal }: CanaryObject): Promise<string | undefined> {
  try {
    await proxied.put(key, plaintext, signal);
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

async function readAndRemoved(object: CanaryObject): Promise<Pick<Canary, 'stored' | 'returned' | 'left'>> {
  const { store, proxied, key, signal } = object;
  let version: string | undefined;
  try {
    const stored = await askStore(store.direct, 's3:GetObject', store.direct.get(key, signal));
    version = stored.version;
    const returned = await proxied.get(key, signal).then(({ body }) => body, refusalOf);
    return { stored, returned, left: !(await isRemoved(object, version)) };
  } catch (error) {
    await isRemoved(object, version);
    throw error;
  }
}

const removalMs = 5_000;

/** Also after an interruption. What the store's own credentials may not remove, those of the proxy may. */
async function isRemoved(
  { store, proxied, key }: CanaryObject,
  version: string | undefined,
): Promise<boolean> {
  for (const endpoint of [store.direct, proxied]) {
    try {
      await endpoint.remove(key, version, AbortSignal.timeout(removalMs));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return true;
    }
  }
  return false;
}
