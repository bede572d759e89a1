import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';
import { canary } from './canary.ts';

export const readBack: Check = {
  ...{ id: 'SVC-STORE-003', area: 'proxy-store', level: 'error', needs: 'store', timeoutMs: 30_000 },
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
};
