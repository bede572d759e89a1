import { storedSize } from '../../../../core/envelope/format.ts';
import type { Check } from '../../contract.ts';
import { failed, notEvaluated, passed } from '../../results.ts';
import { canary } from './canary.ts';

export const ciphertext: Check = {
  ...{ id: 'SVC-STORE-002', area: 'proxy-store', level: 'error', needs: 'store', timeoutMs: 30_000 },
  undoMs: 12_000,
  title: 'What the proxy stores is ciphertext',
  cause:
    'The request did not go through the proxy, or the proxy could not reach the store or the key server.',
  fix: 'Give --proxy the address of the encryption proxy, and look at its log and its /readyz.',
  async run(context) {
    const { subject, plaintext, refusal, stored, left } = await canary(context);
    if (refusal !== undefined) return failed({ subject, message: `The proxy did not take it: ${refusal}.` });
    if (stored === undefined) return notEvaluated('The store does not hold it.');
    const { body, metadata } = stored;
    if (body.includes(plaintext)) return failed({ subject, message: 'The store holds its plaintext.' });
    if (metadata['svc-encrypted'] !== 'true')
      return failed({ subject, message: 'It does not bear the metadata of an encrypted object.' });
    if (body.length !== storedSize(plaintext.length))
      return failed({ subject, message: `The store holds ${body.length} bytes of it.` });
    if (left) return failed({ subject, level: 'warning', message: 'It could not be removed again.' });
    return passed(`key version ${metadata['svc-key-version'] ?? 'unknown'}`);
  },
};
