import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const deletionForbidden = keyCheck(
  {
    id: 'SVC-KEK-005',
    title: 'The key cannot be deleted',
    level: 'error',
    cause: 'deletion_allowed is true. Without the key no object can be read again.',
    fix: 'bao write transit/keys/svc/config deletion_allowed=false',
  },
  ({ path, deletionAllowed }) =>
    deletionAllowed ? failed({ subject: path, message: 'It may be deleted.' }) : passed(),
);
