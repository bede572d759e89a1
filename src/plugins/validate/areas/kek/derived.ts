import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const notDerived = keyCheck(
  {
    id: 'SVC-KEK-007',
    title: 'The key needs no context',
    level: 'error',
    cause: 'The key needs a context with each request (derived=true), which the proxy does not send.',
    fix: 'Create a key without derived=true, and point SVC_TRANSIT_KEY to it.',
  },
  ({ path, derived }) => (derived ? failed({ subject: path, message: 'It is derived.' }) : passed()),
);
