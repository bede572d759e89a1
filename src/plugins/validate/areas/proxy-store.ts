import { randomBytes } from 'node:crypto';
import { storedSize } from '../../../objects/format/cipher.ts';
import { certificateErrorCode, httpStatusOf, messageOf } from '../../../runtime/errors.ts';
import {
  type Check,
  type CheckContext,
  type FetchedObject,
  failed,
  NotEvaluated,
  notEvaluated,
  passed,
  type S3Endpoint,
  type StoreAccess,
  shared,
  skipped,
  verdict,
} from '../check.ts';
import { storeCheck } from '../make-check.ts';

export interface Canary {
  /** The object: `photos/svc-validate/canary-…`. */
  readonly subject: string;
  readonly plaintext: Buffer;
  /** Why the proxy refused the object. */
  readonly refusal?: string;
  /** As stored; undefined if the object was refused. */
  readonly stored?: FetchedObject;
  /** As returned by the proxy, or why the proxy did not return it. */
  readonly returned?: Buffer | string;
  /** Whether the object could not be removed. */
  readonly left?: boolean;
}

/** Writes an object through the proxy, reads it from the store and through the proxy, and removes it. */
const canary = shared(async (context): Promise<Canary> => {
  const store = await context.store();
  await askStore(store.direct, 's3:ListBucket', store.direct.hasBucket(context.signal));
  const object: CanaryObject = {
    store,
    proxied: await store.proxied(),
    signal: context.signal,
    key: `svc-validate/canary-${randomBytes(9).toString('hex')}`,
    plaintext: randomBytes(64),
  };
  const known = { subject: `${store.bucket}/${object.key}`, plaintext: object.plaintext };
  const refusal = await putCanary(object);
  if (refusal !== undefined) {
    await removeCanary(object, undefined);
    return { ...known, refusal };
  }
  return { ...known, ...(await readAndRemove(object)) };
});

interface CanaryObject {
  readonly store: StoreAccess;
  readonly proxied: S3Endpoint;
  readonly key: string;
  readonly plaintext: Buffer;
  readonly signal: AbortSignal;
}

/** @returns why the proxy refused the object; undefined if it did not */
async function putCanary({ proxied, key, plaintext, signal }: CanaryObject): Promise<string | undefined> {
  try {
    await proxied.put(key, plaintext, signal);
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

async function readAndRemove(object: CanaryObject): Promise<Pick<Canary, 'stored' | 'returned' | 'left'>> {
  const { store, proxied, key, signal } = object;
  let version: string | undefined;
  try {
    const stored = await askStore(store.direct, 's3:GetObject', store.direct.get(key, signal));
    version = stored.version;
    const returned = await proxied.get(key, signal).then(({ body }) => body, refusalOf);
    return { stored, returned, left: (await removeCanary(object, version)) === 'left' };
  } catch (error) {
    await removeCanary(object, version);
    throw error;
  }
}

const removalMs = 5_000;

/** Runs even after an interruption. The proxy may be permitted to remove what the direct credentials may not. */
async function removeCanary(
  { store, proxied, key }: CanaryObject,
  version: string | undefined,
): Promise<'removed' | 'left'> {
  for (const endpoint of [store.direct, proxied]) {
    try {
      await endpoint.remove(key, version, AbortSignal.timeout(removalMs));
      return 'removed';
    } catch (error) {
      if (httpStatusOf(error) === 404) return 'removed';
    }
  }
  return 'left';
}

const readBack = storeCheck('SVC-STORE-003', 'error', {
  timeoutMs: 30_000,
  undoMs: 12_000,
  title: 'The proxy gives back what was stored',
  cause: 'The key server does not unwrap the data key, or the store does not give back what it was given.',
  fix: 'Grant update on decrypt of the transit key, and look at the log of the proxy.',
  async run(context) {
    const { subject, plaintext, returned } = await canary(context);
    if (returned === undefined) return skipped('Nothing was stored: SVC-STORE-002 says why.');
    if (typeof returned === 'string')
      return failed({ subject, message: `The proxy does not give it back: ${returned}.` });
    return returned.equals(plaintext) ? passed() : failed({ subject, message: 'Something else comes back.' });
  },
});

const ciphertext = storeCheck('SVC-STORE-002', 'error', {
  timeoutMs: 30_000,
  undoMs: 12_000,
  title: 'What the proxy stores is ciphertext',
  cause:
    'The request did not go through the proxy, or the proxy could not reach the store or the key server.',
  fix: 'Set --proxy to the address of the encryption proxy, and look at its log and its /readyz.',
  async run(context) {
    const { subject, plaintext, refusal, stored, left } = await canary(context);
    if (refusal !== undefined) return failed({ subject, message: `The proxy did not take it: ${refusal}.` });
    if (stored === undefined) return notEvaluated('The store does not hold it.');
    const { body, metadata } = stored;
    if (body.includes(plaintext)) return failed({ subject, message: 'The store holds its plaintext.' });
    if (metadata['svc-encrypted'] !== 'true')
      return failed({ subject, message: 'It lacks the metadata of an encrypted object.' });
    if (body.length !== storedSize(plaintext.length))
      return failed({ subject, message: `The store holds ${body.length} bytes of it.` });
    if (left) return failed({ subject, level: 'warning', message: 'It could not be removed again.' });
    return passed(`key version ${metadata['svc-key-version'] ?? 'unknown'}`);
  },
});

const bucketThere = storeCheck('SVC-STORE-001', 'error', {
  title: 'The bucket exists and can be reached',
  cause:
    'Its name is mistyped, it is in another region or at another endpoint, or the certificate there is not trusted.',
  fix: 'Check --bucket, --upstream and --region; name the authority of a private certificate in AWS_CA_BUNDLE.',
  async run(context, signal) {
    const { bucket, direct } = await context.store();
    try {
      const there = await askStore(direct, 's3:ListBucket', direct.hasBucket(signal));
      return there
        ? passed(direct.host)
        : failed({ subject: bucket, message: `${direct.host} has no such bucket.` });
    } catch (error) {
      const code = certificateErrorCode(error);
      // only a change of configuration fixes it, so it counts as a failure and not as a missing response
      if (code === undefined) throw error;
      return failed({ subject: direct.host, message: `Its certificate is refused: ${code}.` });
    }
  },
});

const factsOf = shared(async (context: CheckContext) => {
  const store = await context.store();
  return askStore(store.direct, 's3:GetBucketVersioning', store.facts(context.signal));
});

const versioning = storeCheck('SVC-STORE-004', 'info', {
  title: 'The bucket keeps versions',
  cause:
    'Versioning is off: what is overwritten or deleted, by mistake or by the store, is gone. Encryption does not help against that.',
  fix: 'Enable versioning, with a lifecycle rule that excludes .svc/.',
  async run(context) {
    const { bucket } = await context.store();
    const { versioning: state } = await factsOf(context);
    if (state === undefined) return skipped('The store does not say.');
    return state === 'Enabled'
      ? passed()
      : failed({ subject: bucket, message: `Versioning is ${state.toLowerCase()}.` });
  },
});

const notPublic = storeCheck('SVC-STORE-005', 'info', {
  title: 'The bucket is not public',
  cause:
    'A policy makes the bucket public, or nothing forbids such a policy. Bodies are encrypted; names, sizes and times are not, and .svc/ may be written.',
  fix: 'Block public access to the bucket, and remove the policy.',
  async run(context) {
    const { bucket } = await context.store();
    const { isPublic, blocksPublicAccess } = await factsOf(context);
    if (isPublic === undefined && blocksPublicAccess === undefined) return skipped('The store does not say.');
    if (isPublic)
      return failed({ subject: bucket, level: 'warning', message: 'Its policy makes it public.' });
    return verdict(
      blocksPublicAccess === false ? [{ subject: bucket, message: 'Public access is not blocked.' }] : [],
    );
  },
});

/** The refusal in a few words, without the store's own text. */
export function refusalOf(error: unknown): string {
  const name = error instanceof Error ? error.name : 'unknown error';
  const status = httpStatusOf(error);
  if (status !== undefined) return `${status} ${name}`;
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (name === 'Error' ? messageOf(error) : name);
}

/**
 * For requests directly to the store: a refusal means "not evaluated", because it says nothing about the store.
 * @param permission that the request needs, such as `s3:GetObject`
 * @throws NotEvaluated
 */
export async function askStore<T>({ host }: S3Endpoint, permission: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const denied = httpStatusOf(error) === 403 || httpStatusOf(error) === 401;
    const reason = `The object store ${host} answers: ${refusalOf(error)}`;
    throw new NotEvaluated(reason, denied ? permission : undefined, error);
  }
}

export const proxyStoreChecks: readonly Check[] = [bucketThere, ciphertext, readBack, versioning, notPublic];
