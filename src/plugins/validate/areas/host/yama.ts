import { failed, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

export const yama = hostCheck(
  {
    id: 'SVC-HOST-009',
    title: 'Processes cannot trace others of the same user',
    level: 'info',
    cause:
      'kernel.yama.ptrace_scope is 0 or the kernel has no Yama. The agent denies it for protected processes; this guards what is not protected, and while no agent runs.',
    fix: 'Set kernel.yama.ptrace_scope=1 or more in /etc/sysctl.d.',
  },
  ({ read }) => {
    const scope = read('/proc/sys/kernel/yama/ptrace_scope')?.trim();
    if (scope === undefined) return failed({ subject, message: 'Its kernel has no Yama.' });
    return scope === '0'
      ? failed({ subject, message: 'ptrace_scope is 0.' })
      : passed(`ptrace_scope ${scope}`);
  },
);
