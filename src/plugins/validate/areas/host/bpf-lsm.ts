import { failed, notEvaluated, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

const list = '/sys/kernel/security/lsm';

export const bpfLsm = hostCheck(
  {
    id: 'SVC-HOST-004',
    title: 'The kernel asks BPF programs as a security module',
    level: 'warning',
    cause:
      'bpf is not in the list of security modules that the kernel was booted with, so that tier 1 of the agent cannot work; tier 2 can.',
    fix: 'Add bpf to lsm= on the kernel command line, keep what stands there, and boot again.',
  },
  ({ read }) => {
    const modules = read(list)?.trim();
    if (modules === undefined) return notEvaluated(`${list} is not there: securityfs is not mounted.`);
    if (modules.split(',').includes('bpf')) return passed(modules);
    return failed({ subject, message: `Its security modules are ${modules}, without bpf.` });
  },
);
