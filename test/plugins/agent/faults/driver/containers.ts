import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cgroupKey } from '../../../../../src/plugins/agent/guard/cover.ts';
import { findCgroupRoot } from '../../../../../src/plugins/agent/pods/pod-cgroups.ts';
import { encodeProtection } from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { startLineProcess } from '../../../../support/bypass/line-process.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import { attempt } from './attempts.ts';
import type { Bench } from './bench.ts';
import { withTable } from './tables.ts';

export interface ContainersRecord {
  readonly registered: ContainerRecord;
  readonly byCgroup: ContainerRecord;
}

export interface ContainerRecord {
  /** What one attempt on its process came to. */
  readonly attack: string;
  readonly commands: readonly {
    readonly command: string;
    readonly status: number | string;
    readonly output: string;
  }[];
}

/** Debian's runc with containers of busybox: one registers itself, one is covered by its pod's cgroup. */
export async function containers(bench: Bench): Promise<ContainersRecord> {
  return { registered: await registersItself(bench), byCgroup: await coveredByCgroup(bench) };
}

interface Spec {
  process: { terminal: boolean; args: string[]; env: string[] };
  root: { readonly: boolean };
  mounts: { destination: string; type?: string; source: string; options: string[] }[];
  linux: { cgroupsPath: string; namespaces: { type: string }[] };
}

/** @returns the container's folder */
function bundle(name: string, args: string[], env: string[], binds: string[]): string {
  const folder = mkdtempSync(`/tmp/${name}-`);
  mkdirSync(join(folder, 'rootfs'));
  execFileSync('runc', ['spec'], { cwd: folder });
  const file = join(folder, 'config.json');
  const spec = JSON.parse(readFileSync(file, 'utf8')) as Spec;
  spec.process = { ...spec.process, terminal: false, args, env: [...spec.process.env, ...env] };
  spec.root.readonly = false;
  for (const path of ['/bin', ...binds]) {
    spec.mounts.push({ destination: path, source: path, type: 'bind', options: ['rbind', 'ro'] });
  }
  spec.linux.cgroupsPath = `/kubepods/pod-${name}/one`;
  writeFileSync(file, JSON.stringify(spec));
  return folder;
}

async function registersItself(bench: Bench): Promise<ContainerRecord> {
  const { socket, machine } = bench;
  const marker = newMarker();
  const script = join(dirname(machine.registrar), 'container.mjs');
  const binds = ['/usr', '/lib64', '/opt', '/node_modules', dirname(socket)];
  const args = ['/usr/bin/node', script, socket, marker];
  const folder = bundle('registered', args, [`BYPASS_SECRET=${marker}`], binds);
  const container = await startLineProcess('runc', ['run', '--bundle', folder, 'registered']);
  const { registeredPid: pid } = await container.next<{ registeredPid: number }>();
  const attack = await attempt(machine, { pid, marker });
  const commands = commandsOn('registered', pid);
  container.close();
  await container.exited;
  return { attack, commands };
}

async function coveredByCgroup({ machine }: Bench): Promise<ContainerRecord> {
  const marker = newMarker();
  const folder = bundle('cgroup', ['/bin/busybox', 'sleep', '1000'], [`BYPASS_SECRET=${marker}`], []);
  const path = join(String(findCgroupRoot('/sys/fs/cgroup')), 'kubepods', 'pod-cgroup');
  mkdirSync(path, { recursive: true });
  const key = cgroupKey(statSync(path, { bigint: true }).ino);
  withTable(machine, 'cgroups', (table) => table.update(key, encodeProtection(0)));
  const pidFile = join(folder, 'pid');
  const run = runc(['run', '-d', '--bundle', folder, '--pid-file', pidFile, 'cgroup']);
  if (run.status !== 0) return { attack: 'none', commands: [run] };
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const attack = await attempt(machine, { pid, marker });
  return { attack, commands: [run, ...commandsOn('cgroup', pid)] };
}

function commandsOn(name: string, pid: number) {
  const before = [runc(['exec', name, '/bin/busybox', 'sh', '-c', 'echo inside']), runc(['ps', name])];
  const more = [runc(['state', name]), runc(['kill', name, 'KILL'])];
  spawnSync('/bin/sh', [
    '-c',
    `for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 ${pid} 2>/dev/null || break; sleep 0.2; done`,
  ]);
  return [...before, ...more, runc(['delete', '--force', name])];
}

/** Containers' standard streams are not the driver's. */
function runc(args: readonly string[]) {
  const { status, signal, stdout, stderr } = spawnSync('runc', args, {
    encoding: 'utf8',
    stdio: ['ignore', args.includes('-d') ? 'ignore' : 'pipe', args.includes('-d') ? 'ignore' : 'pipe'],
  });
  return {
    command: args[0] ?? '',
    status: status ?? String(signal),
    output: `${stdout ?? ''}${stderr ?? ''}`.trim(),
  };
}
