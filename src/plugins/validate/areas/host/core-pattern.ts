import { failed, notEvaluated, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

export const corePattern = hostCheck(
  {
    id: 'SVC-HOST-007',
    title: 'Core dumps go to no program',
    level: 'warning',
    cause:
      'core_pattern begins with a pipe, so that the memory of a process that crashes is given to a program, whatever its limit on core files, but for a limit of 1. The wrapper sets that for what it starts; a process that only its pod label protects has it not.',
    fix: 'Set kernel.core_pattern to a file name in /etc/sysctl.d, or have the program drop the dumps of protected pods.',
  },
  ({ read }) => {
    const pattern = read('/proc/sys/kernel/core_pattern')?.trim();
    if (pattern === undefined) return notEvaluated('/proc/sys/kernel/core_pattern is not there.');
    if (!pattern.startsWith('|')) return passed();
    return failed({ subject, message: `Core dumps go to ${pattern.slice(1).split(' ', 1)[0]}.` });
  },
);
