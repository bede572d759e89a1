import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const notExportable = keyCheck(
  {
    id: 'SVC-KEK-002',
    title: 'The key cannot be exported',
    level: 'error',
    cause: 'It was created, or configured later, with exportable=true. That cannot be taken back.',
    fix: 'Create another key, point SVC_TRANSIT_KEY to it, rewrite objects through the proxy, and retire this one.',
  },
  ({ path, exportable }) => (exportable ? failed({ subject: path, message: 'It is exportable.' }) : passed()),
);
