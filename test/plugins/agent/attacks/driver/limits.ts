import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AttackOutcome, attack, startVictim } from './attack.ts';
import type { Scene } from './scene.ts';

export interface LimitsRecord {
  readonly lowered: AttackOutcome;
  readonly raised: AttackOutcome;
}

/** Somebody sets the limit on core dumps of a covered process. */
export async function limits(scene: Scene): Promise<LimitsRecord> {
  const { guard } = await scene.shared();
  const { pid, process } = await startVictim(scene);
  guard.protect(pid);
  const lowered = await attack(scene, 'limit', ['--pid', pid, '--to', 0]);
  const raised = await attack(scene, 'limit', ['--pid', pid, '--to', -1]);
  await process.kill();
  return { lowered, raised };
}

export interface ContainerRecord {
  readonly status: number | null;
  readonly output: string;
  readonly covered: boolean | undefined;
}

/** runc sets limits of a process that is in its cgroup already, from outside. */
export async function limitedContainer(scene: Scene): Promise<ContainerRecord> {
  const { guard } = await scene.shared();
  const cgroup = '/sys/fs/cgroup/limited';
  mkdirSync(cgroup);
  guard.protectCgroup(statSync(cgroup, { bigint: true }).ino);
  const folder = bundle('/limited/one');
  const pidFile = join(folder, 'pid');
  const args = ['run', '-d', '--bundle', folder, '--pid-file', pidFile, 'limited'];
  // its standard output is the container's, too
  const log = join(folder, 'log');
  const { status } = spawnSync('runc', ['--log', log, ...args], { stdio: 'ignore' });
  const covered = status === 0 ? guard.inspect(Number(readFileSync(pidFile, 'utf8')))?.covered : undefined;
  spawnSync('runc', ['delete', '--force', 'limited'], { stdio: 'ignore' });
  return { status, output: status === 0 ? '' : readFileSync(log, 'utf8'), covered };
}

function bundle(cgroupsPath: string): string {
  const folder = mkdtempSync('/tmp/limited-');
  mkdirSync(join(folder, 'rootfs', 'bin'), { recursive: true });
  execFileSync('runc', ['spec'], { cwd: folder });
  const file = join(folder, 'config.json');
  const spec = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(spec.process, {
    terminal: false,
    args: ['/bin/busybox', 'sleep', '1000'],
    rlimits: [
      { type: 'RLIMIT_CORE', soft: 0, hard: 0 },
      { type: 'RLIMIT_NOFILE', soft: 512, hard: 1024 },
    ],
  });
  spec.mounts.push({ destination: '/bin', source: '/bin', type: 'bind', options: ['rbind', 'ro'] });
  spec.linux.cgroupsPath = cgroupsPath;
  writeFileSync(file, JSON.stringify(spec));
  return folder;
}
