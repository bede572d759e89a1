import { failed, notEvaluated, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

export const swap = hostCheck(
  {
    id: 'SVC-HOST-006',
    title: 'There is no swap',
    level: 'warning',
    cause:
      'The wrapper locks its memory, but applications keep no lock on theirs: what they hold can be written to disk.',
    fix: 'Turn swap off (swapoff -a, and in /etc/fstab), or keep it on an encrypted device.',
  },
  ({ read }) => {
    const text = read('/proc/swaps');
    if (text === undefined) return notEvaluated('/proc/swaps is not there.');
    const names = text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/\s/, 1)[0] ?? '');
    if (names.length === 0) return passed();
    return failed({ subject, message: `It swaps to ${names.join(', ')}.` });
  },
);
