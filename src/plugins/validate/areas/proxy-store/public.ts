import type { Check } from '../../contract.ts';
import { failed, skipped, verdict } from '../../results.ts';
import { factsOf } from './bucket-facts.ts';

export const notPublic: Check = {
  ...{ id: 'SVC-STORE-005', area: 'proxy-store', level: 'info', needs: 'store' },
  title: 'The bucket is not open to everybody',
  cause:
    'A policy opens the bucket, or nothing forbids one. Bodies are encrypted; names, sizes and times are not, and .svc/ may be written.',
  fix: 'Block public access to the bucket, and take the policy away.',
  async run(context) {
    const { bucket } = await context.store();
    const { isPublic, blocksPublicAccess } = await factsOf(context);
    if (isPublic === undefined && blocksPublicAccess === undefined)
      return skipped('The store does not tell.');
    if (isPublic)
      return failed({ subject: bucket, level: 'warning', message: 'Its policy makes it public.' });
    return verdict(
      blocksPublicAccess === false ? [{ subject: bucket, message: 'Public access is not blocked.' }] : [],
    );
  },
};
