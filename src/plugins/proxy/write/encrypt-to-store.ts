import { maxPlaintextBytes } from '../../../core/envelope/format.ts';
import { sealChecksums } from '../../../core/envelope/sealed-checksums.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { FreshKey } from '../keys/data-keys.ts';
import { type Acceptance, accepted } from './accepted.ts';
import type { EncryptionPlan, Sealed, WriteContext } from './encryption-plan.ts';
import { sendSpooled } from './send-spooled.ts';
import { sendStreamed } from './send-streamed.ts';
import { collect, sendWhole, smallBytes } from './send-whole.ts';

/** A body that the store holds as `nonce || ciphertext || tag`. */
export interface StoredBody extends Omit<Sealed, 'response'>, Acceptance {
  /** The wrapped DEK. */
  readonly dek: string;
  /** As `sealChecksums` writes them, where there are any. */
  readonly sealed?: string;
}

/**
 * Encrypts a plaintext under a fresh DEK and stores it. The DEK is wrapped
 * before the store hears of the request, and gone when this settles.
 * @throws S3Error EntityTooLarge before anything is sent; the store's refusal; what `source` throws,
 *   after which the store has kept nothing.
 */
export async function encryptToStore(context: WriteContext, plan: EncryptionPlan): Promise<StoredBody> {
  if (plan.length !== undefined && plan.length > maxPlaintextBytes) throw s3Error('EntityTooLarge');
  const send = roadFor(context, plan);
  return withFreshKey(context, plan, async (key) => {
    const { response, nonce, size } = await send(key);
    const acceptance = await accepted(response);
    context.metrics.bytes('encrypted', size);
    const checksums = plan.checksums?.();
    const sealed = checksums?.size ? sealChecksums(key.key, { nonce, size }, checksums) : undefined;
    return { ...acceptance, nonce, size, dek: key.ciphertext, ...(sealed !== undefined && { sealed }) };
  });
}

/** Small bodies are read while their key is being wrapped. */
function roadFor(context: WriteContext, plan: EncryptionPlan): (key: FreshKey) => Promise<Sealed> {
  const { length } = plan;
  if (length === undefined) return (key) => sendSpooled(context, plan, key);
  if (length > smallBytes) return (key) => sendStreamed(context, plan, length, key);
  const plaintext = collect(plan.source, length);
  plaintext.catch(() => undefined);
  return async (key) => sendWhole(context, plan, await plaintext, key);
}

async function withFreshKey<T>(
  { keys }: WriteContext,
  { name, purpose, signal }: EncryptionPlan,
  use: (key: FreshKey) => Promise<T>,
): Promise<T> {
  const [fresh] = await keys.create(name, [purpose], signal);
  if (fresh === undefined) throw new TypeError('a purpose without a key');
  try {
    return await use(fresh);
  } finally {
    fresh.key.fill(0);
  }
}
