import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const noPlaintextBackup = keyCheck(
  {
    id: 'SVC-KEK-003',
    title: 'The key cannot be backed up as plaintext',
    level: 'error',
    cause:
      'It was created, or configured later, with allow_plaintext_backup=true. That cannot be taken back.',
    fix: 'Create another key, point SVC_TRANSIT_KEY to it, rewrite objects through the proxy, and retire this one.',
  },
  ({ path, plaintextBackup }) =>
    plaintextBackup ? failed({ subject: path, message: 'It allows plaintext backups.' }) : passed(),
);
