import type { Check } from '../../contract.ts';
import { failed, passed } from '../../results.ts';
import { askStore } from '../../store/failure.ts';

export const bucketThere: Check = {
  ...{ id: 'SVC-STORE-001', area: 'proxy-store', level: 'error', needs: 'store' },
  title: 'The bucket is there and can be reached',
  cause: 'Its name is mistyped, or it lies in another region or at another endpoint.',
  fix: 'Check --bucket, --upstream and --region.',
  async run(context, signal) {
    const { bucket, direct } = await context.store();
    const there = await askStore(direct, 's3:ListBucket', direct.hasBucket(signal));
    return there
      ? passed(direct.host)
      : failed({ subject: bucket, message: `${direct.host} has no such bucket.` });
  },
};
