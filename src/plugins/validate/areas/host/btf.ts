import { failed, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

const types = '/sys/kernel/btf/vmlinux';

export const btf = hostCheck(
  {
    id: 'SVC-HOST-005',
    title: 'The kernel has its type information (BTF)',
    level: 'error',
    cause: 'The kernel was built without CONFIG_DEBUG_INFO_BTF. No tier of the node agent works without it.',
    fix: 'Use a kernel with BTF; those of Debian 11, Ubuntu 20.10, RHEL 8.2 and later have it.',
  },
  ({ exists }) => (exists(types) ? passed() : failed({ subject, message: `${types} is not there.` })),
);
