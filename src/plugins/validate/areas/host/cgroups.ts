import { failed, passed } from '../../results.ts';
import { hostCheck, subject } from './host-check.ts';

export const cgroups = hostCheck(
  {
    id: 'SVC-HOST-008',
    title: 'Control groups are of version 2',
    level: 'error',
    cause: 'The agent finds the processes of a pod, and the pod of a caller, by control groups of version 2.',
    fix: 'Boot with systemd.unified_cgroup_hierarchy=1, or use a node image with cgroup v2.',
  },
  ({ exists }) =>
    exists('/sys/fs/cgroup/cgroup.controllers')
      ? passed()
      : failed({ subject, message: '/sys/fs/cgroup is no hierarchy of version 2.' }),
);
