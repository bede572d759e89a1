import type { Fixture, Fixtures } from '../../fixture.ts';
import { type FakeHost, fakeHost } from '../../host/fake-host.ts';

const shown =
  (changes: FakeHost = {}) =>
  (): Fixture => ({ host: fakeHost(changes) });

const failing = (changes: FakeHost) => ({ passes: shown(), fails: shown(changes) });
const file = (path: string, content: string | undefined) => failing({ files: { [path]: content } });

export const fixtures: Fixtures = {
  'SVC-HOST-001': failing({ kernelRelease: '5.10.0-28-amd64' }),
  'SVC-HOST-002': failing({ trySecretMemory: async () => 'memfd_secret: ENOSYS' }),
  'SVC-HOST-003': file(
    '/proc/self/limits',
    'Max locked memory         8388608              8388608              bytes\n',
  ),
  'SVC-HOST-004': file('/sys/kernel/security/lsm', 'lockdown,capability,yama\n'),
  'SVC-HOST-005': file('/sys/kernel/btf/vmlinux', undefined),
  'SVC-HOST-006': file('/proc/swaps', 'Filename\tType\n/dev/sda2\tpartition\t1000\t0\t-2\n'),
  'SVC-HOST-007': file('/proc/sys/kernel/core_pattern', '|/usr/lib/systemd/systemd-coredump %P\n'),
  'SVC-HOST-008': file('/sys/fs/cgroup/cgroup.controllers', undefined),
  'SVC-HOST-009': file('/proc/sys/kernel/yama/ptrace_scope', '0\n'),
};
