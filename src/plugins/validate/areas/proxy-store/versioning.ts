import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';
import { factsOf } from './bucket-facts.ts';

export const versioning: Check = {
  ...{ id: 'SVC-STORE-004', area: 'proxy-store', level: 'info', needs: 'store' },
  title: 'The bucket keeps versions',
  cause:
    'Versioning is off: what is overwritten or deleted, by mistake or by the store, is gone. Encryption does not help against that.',
  fix: 'Turn versioning on, with a lifecycle rule that leaves .svc/ out.',
  async run(context) {
    const { bucket } = await context.store();
    const { versioning: state } = await factsOf(context);
    if (state === undefined) return skipped('The store does not tell.');
    return state === 'Enabled'
      ? passed()
      : failed({ subject: bucket, message: `Versioning is ${state.toLowerCase()}.` });
  },
};
