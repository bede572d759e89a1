import { isAtLeast } from '../../../../runtime/kube/server-version.ts';
import { failed, notEvaluated, passed } from '../../results.ts';
import { kernelVersion } from '../cluster/kernel-version.ts';
import { hostCheck, subject } from './host-check.ts';

export const kernel = hostCheck(
  {
    id: 'SVC-HOST-001',
    title: 'The kernel is Linux 5.15 or later',
    level: 'error',
    cause: 'memfd_secret came with Linux 5.14, and the node agent needs 5.15.',
    fix: 'Use a node image with a newer kernel.',
  },
  ({ kernelRelease }) => {
    const version = kernelVersion(kernelRelease);
    if (version === undefined) return notEvaluated('The release of the kernel is no version.');
    if (isAtLeast(version, 5, 15)) return passed(kernelRelease);
    const level = isAtLeast(version, 5, 14) ? 'warning' : 'error';
    return failed({ subject, level, message: `Its kernel is ${kernelRelease}.` });
  },
);
