import { failed, passed } from '../../results.ts';
import { keyCheck } from './key-check.ts';

export const keyType = keyCheck(
  {
    id: 'SVC-KEK-001',
    title: 'The key is of type aes256-gcm96',
    level: 'error',
    cause: 'It was created with another type.',
    fix: 'Create a key of type aes256-gcm96, point SVC_TRANSIT_KEY to it, and rewrite objects through the proxy.',
  },
  ({ path, type }) =>
    type === 'aes256-gcm96' ? passed() : failed({ subject: path, message: `It is of type ${String(type)}.` }),
);
