import { timingSafeEqual } from 'node:crypto';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import { isVaultError } from '../../../runtime/vault/errors.ts';
import type { ProxyConfig } from '../config.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { Check } from './watch.ts';

/**
 * Whether keys can be wrapped and unwrapped as those of objects are: a fresh key goes there and back, bound to a name
 * that no object of a caller has. Nothing is ever encrypted by it.
 */
export function keyCheck(keys: DataKeys, { reservedPrefix }: Pick<ProxyConfig, 'reservedPrefix'>): Check {
  const name = { bucket: 'ready', key: `${reservedPrefix}ready` };
  return {
    condition: 'keys',
    run: (signal) => thereAndBack(keys, name, signal),
    explain(error) {
      if (!isVaultError(error)) return { reason: describeError(error).error };
      const { message: reason, nextStep, kind } = error;
      // Each refusal has the client log in again, which it may do a few times a minute only.
      return { reason, nextStep, lasting: kind === 'denied' };
    },
  };
}

const purpose = { kind: 'object' } as const;

async function thereAndBack(
  keys: DataKeys,
  name: { readonly bucket: string; readonly key: string },
  signal: AbortSignal,
): Promise<void> {
  const [fresh] = await keys.create(name, [purpose], signal);
  if (fresh === undefined) throw new Error('no key was wrapped');
  try {
    const [back] = await keys.unwrap(name, keys.scheme, [{ wrapped: fresh.ciphertext, purpose }], signal);
    const same = back !== undefined && timingSafeEqual(back, fresh.key);
    back?.fill(0);
    if (!same) throw new Error('The key server unwraps another key than it has wrapped');
  } finally {
    fresh.key.fill(0);
  }
}
