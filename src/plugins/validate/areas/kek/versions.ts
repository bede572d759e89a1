import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const oldVersionsReadable = keyCheck(
  {
    id: 'SVC-KEK-006',
    title: 'All versions of the key can unwrap',
    level: 'warning',
    cause:
      'min_decryption_version was advanced. Objects that were written under an earlier version cannot be read.',
    fix: 'Look for such objects with svc audit --bucket; lower min_decryption_version, rewrite them through the proxy, and advance it again.',
  },
  ({ path, minDecryptionVersion: least }) =>
    least > 1
      ? failed({
          subject: path,
          message: `Versions before ${least} unwrap nothing (min_decryption_version).`,
        })
      : passed(),
);
