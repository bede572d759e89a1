/** Pods with token volumes, as kubelet and runtime make them, and who reads what is in them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import type { ActorCommand } from './actor.ts';

export const kubeletPort = 10_250;
export const mounted = '/var/run/secrets/svc';
export const token = `${mounted}/token`;

export interface Pod {
  readonly uid: string;
  readonly folder: string;
  readonly volume: string;
}

export function makePod(digit: string): Pod {
  const uid = `${digit.repeat(8)}-0000-4000-8000-${digit.repeat(12)}`;
  const folder = `/sys/fs/cgroup/kubepods/pod${uid}`;
  const volume = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/svc-wrapper-token`;
  for (const each of [folder, volume]) mkdirSync(each, { recursive: true });
  return { uid, folder, volume };
}

export const mountTmpfs = ({ volume }: Pod) =>
  execFileSync('/bin/busybox', ['mount', '-t', 'tmpfs', 'tmpfs', volume]);

let generation = 0;
const acting = (actor: string) => ['/usr/bin/node', ...process.execArgv, actor];

/** A process of the node's own that does what it is told. */
export function startActor(actor: string): Promise<LineProcess> {
  const [program = '', ...args] = acting(actor);
  return startLineProcess(program, args);
}

/** As the kubelet puts a new token in place of the old one. */
export function write({ volume }: Pod, text: string): void {
  generation += 1;
  mkdirSync(join(volume, `..${generation}`));
  writeFileSync(join(volume, `..${generation}`, 'token'), text);
  symlinkSync(`..${generation}`, join(volume, '..data_tmp'));
  renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  if (generation > 1) rmSync(join(volume, `..${generation - 1}`), { recursive: true, force: true });
  rmSync(join(volume, 'token'), { force: true });
  symlinkSync('..data/token', join(volume, 'token'));
}

export const told = (record: object) => process.stdout.write(`${JSON.stringify(record)}\n`);

/** A container of a pod, by its cgroup, and the process that it was started with. */
export interface RunningContainer {
  readonly id: string;
  readonly cgroup: string;
  readonly first: LineProcess;
}

const shared = ['bin', 'dev', 'lib', 'lib64', 'opt', 'proc', 'sys', 'tmp', 'usr'];
const most = 60_000;
/** An attempt takes an emulated processor as long as this, which the agent needs meanwhile. */
const pauseMs = 250;

/**
 * Starts the actor as a runtime starts a container: with a mount namespace and a root of its own, in which the volume is
 * where the webhook mounts it.
 * @param digit of the id by which the runtime knows it
 */
export async function startContainer(
  { folder, volume }: Pod,
  digit: string,
  { actor, withVolume = true }: { readonly actor: string; readonly withVolume?: boolean },
): Promise<RunningContainer> {
  const id = digit.repeat(64);
  const cgroup = join(folder, id);
  const root = `/run/roots/${id}`;
  const script = [
    `mkdir ${cgroup}`,
    `echo $$ > ${cgroup}/cgroup.procs`,
    `mkdir -p ${root}`,
    `mount -t tmpfs tmpfs ${root}`,
    `for name in ${shared.join(' ')}; do [ ! -e /$name ] || { mkdir ${root}/$name && mount -o rbind /$name ${root}/$name; }; done`,
    ...(withVolume ? [`mkdir -p ${root}${mounted}`, `mount -o bind,ro ${volume} ${root}${mounted}`] : []),
    `exec chroot ${root} ${acting(actor).join(' ')}`,
  ].join(' && ');
  const first = await startLineProcess('/bin/busybox', ['unshare', '-m', '/bin/sh', '-c', script]);
  await ask(first, { do: 'read', path: '/dev/null' });
  return { id, cgroup, first };
}

export async function ask(process_: LineProcess, command: ActorCommand): Promise<string> {
  process_.send(JSON.stringify(command));
  return (await process_.next<{ answer: string }>()).answer;
}

export const busybox = (...args: string[]): string => {
  const { stdout, stderr } = spawnSync('/bin/busybox', args, { encoding: 'utf8' });
  return stdout || stderr.trim().replace(/.*: /, '');
};

/** By `kubectl exec`: in the container's cgroup, namespaces and root, and no child of its first process. */
export const brought = ({ cgroup, first }: RunningContainer, ...command: string[]): string =>
  busybox('sh', '-c', bringing(cgroup, first.pid, command));

/** The same, for a process that stays. */
export const bringActor = ({ cgroup, first }: RunningContainer, actor: string): Promise<LineProcess> =>
  startLineProcess('/bin/busybox', ['sh', '-c', bringing(cgroup, first.pid, acting(actor))]);

const bringing = (cgroup: string, pid: number, command: readonly string[]): string =>
  `echo $$ > ${cgroup}/cgroup.procs; exec busybox nsenter -t ${pid} -m -r ${command.join(' ')}`;

/** The last answer, once it is the wanted one, or when the time is over. */
export async function until(wanted: string, attempt: () => Promise<string> | string): Promise<string> {
  const begun = performance.now();
  let answer = await attempt();
  while (answer !== wanted && performance.now() - begun < most) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    answer = await attempt();
  }
  return answer;
}
