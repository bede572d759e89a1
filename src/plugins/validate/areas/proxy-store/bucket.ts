import { certificateErrorCode } from '../../../../core/certificate-errors.ts';
import type { Check } from '../../contract.ts';
import { failed, passed } from '../../results.ts';
import { askStore } from '../../store/failure.ts';

export const bucketThere: Check = {
  ...{ id: 'SVC-STORE-001', area: 'proxy-store', level: 'error', needs: 'store' },
  title: 'The bucket is there and can be reached',
  cause:
    'Its name is mistyped, it lies in another region or at another endpoint, or the certificate there is not trusted.',
  fix: 'Check --bucket, --upstream and --region; give the authority of a private certificate by AWS_CA_BUNDLE.',
  async run(context, signal) {
    const { bucket, direct } = await context.store();
    try {
      const there = await askStore(direct, 's3:ListBucket', direct.hasBucket(signal));
      return there
        ? passed(direct.host)
        : failed({ subject: bucket, message: `${direct.host} has no such bucket.` });
    } catch (error) {
      const code = certificateErrorCode(error);
      // nothing but another configuration mends that: it is a verdict, not an answer that did not come
      if (code === undefined) throw error;
      return failed({ subject: direct.host, message: `Its certificate is refused: ${code}.` });
    }
  },
};
