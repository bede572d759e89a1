/** `main.ts ACTOR AGENT TIER`: pods with token volumes on a node of their own, and who gets at the tokens. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import { type SvcAgent, startSvcAgent } from '../../../../support/svc-agent.ts';
import type { ActorCommand } from './actor.ts';

const [actor = '', agentEntry = '', tier = '1'] = process.argv.slice(2);
const kubeletPort = 10_250;
const mounted = '/var/run/secrets/svc';

interface Pod {
  readonly uid: string;
  readonly cgroup: string;
  readonly volume: string;
}

function makePod(digit: string): Pod {
  const uid = `${digit.repeat(8)}-0000-4000-8000-${digit.repeat(12)}`;
  const cgroup = `/sys/fs/cgroup/kubepods/pod${uid}/${digit.repeat(64)}`;
  const volume = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/svc-wrapper-token`;
  mkdirSync(cgroup, { recursive: true });
  mkdirSync(volume, { recursive: true });
  return { uid, cgroup, volume };
}

const mountTmpfs = ({ volume }: Pod) =>
  execFileSync('/bin/busybox', ['mount', '-t', 'tmpfs', 'tmpfs', volume]);

let generation = 0;
/** As the kubelet puts a new token in place of the old one. */
function write({ volume }: Pod, token: string): void {
  generation += 1;
  mkdirSync(join(volume, `..${generation}`));
  writeFileSync(join(volume, `..${generation}`, 'token'), token);
  symlinkSync(`..${generation}`, join(volume, '..data_tmp'));
  renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  if (generation > 1) rmSync(join(volume, `..${generation - 1}`), { recursive: true, force: true });
  rmSync(join(volume, 'token'), { force: true });
  symlinkSync('..data/token', join(volume, 'token'));
}

const told = (record: object) => process.stdout.write(`${JSON.stringify(record)}\n`);

/** In the cgroup of a container, with a mount namespace of its own in which the volume is where the wrapper has it. */
function enter({ cgroup, volume }: Pod): Promise<LineProcess> {
  const script = `echo $$ > ${cgroup}/cgroup.procs && mkdir -p ${mounted} && mount -o bind,ro ${volume} ${mounted} && exec node ${actor}`;
  return startLineProcess('/bin/busybox', ['unshare', '-m', '/bin/sh', '-c', script]);
}

async function ask(process_: LineProcess, command: ActorCommand): Promise<string> {
  process_.send(JSON.stringify(command));
  return (await process_.next<{ answer: string }>()).answer;
}

const busybox = (...args: string[]): string => {
  const { stdout, stderr } = spawnSync('/bin/busybox', args, { encoding: 'utf8' });
  return stdout || stderr.trim().replace(/.*: /, '');
};

/** By `kubectl exec`: in the container's cgroup and namespaces, and no child of the wrapper. */
const brought = ({ cgroup }: Pod, pid: number, ...command: string[]): string =>
  busybox(
    'sh',
    '-c',
    `echo $$ > ${cgroup}/cgroup.procs; exec busybox nsenter -t ${pid} -m ${command.join(' ')}`,
  );

const agent: SvcAgent = await startSvcAgent({
  bpfFolder: '/sys/fs/bpf/tokens',
  entry: agentEntry,
  env: { SVC_AGENT_TIERS: tier, SVC_AGENT_REACTIVE_KILL: 'false' },
});
const { tier: inForce, not_higher: notHigher } = agent.started;
told({ name: 'agent', record: { tier: inForce, notHigher } });
const socketPath = agent.address.replace('unix://', '');
const [pod, other, strange] = [makePod('a'), makePod('b'), makePod('c')] as const;
for (const each of [pod, other]) mountTmpfs(each);
write(pod, 'first');
writeFileSync(join(other.volume, 'token'), 'of-other');
const token = `${mounted}/token`;
const wrapper = await enter(pod);
const inPod = (path: string) => `/proc/${wrapper.pid}/root${path}`;
const register = (process_: LineProcess, { uid }: Pod) =>
  ask(process_, { do: 'register', socketPath, podUid: uid });

await ask(wrapper, { do: 'read', path: '/dev/null' });
told({
  name: 'before',
  record: { exec: brought(pod, wrapper.pid, 'cat', token), node: busybox('cat', `${pod.volume}/token`) },
});

await register(wrapper, pod);
told({ name: 'noKubelet', record: { exec: brought(pod, wrapper.pid, 'cat', token), lines: reasons() } });

let kubelet = await startLineProcess('/usr/bin/node', [actor]);
await ask(kubelet, { do: 'listen', port: kubeletPort });
await register(wrapper, pod);
const intruder = await enter(pod);
const intruded = await register(intruder, pod);
mkdirSync('/mnt/again');
busybox('mount', '-o', 'bind', pod.volume, '/mnt/again');
for (const name of ['up', 'work', 'merged']) mkdirSync(`/tmp/overlay/${name}`, { recursive: true });
const overlaid = busybox('mount', '-t', 'overlay', 'overlay', '-o', `lowerdir=${pod.volume}`, '/mnt');
const readers = () => ({
  wrapper: '',
  child: '',
  exec: brought(pod, wrapper.pid, 'cat', token),
  nsenter: busybox('nsenter', '-t', String(wrapper.pid), '-m', 'cat', token),
  procRoot: busybox('cat', inPod(token)),
  node: busybox('cat', `${pod.volume}/token`),
  data: busybox('cat', `${pod.volume}/..data/token`),
  secondMount: busybox('cat', '/mnt/again/token'),
});
async function all() {
  return {
    ...readers(),
    wrapper: await ask(wrapper, { do: 'read', path: token }),
    child: await ask(wrapper, { do: 'cat', path: token }),
    kubelet: await ask(kubelet, { do: 'read', path: `${pod.volume}/token` }),
    registeredIntruder: await ask(intruder, { do: 'read', path: token }),
  };
}
told({ name: 'guarded', record: { intruded, ...(await all()), lines: reasons() } });
writeFileSync('/tmp/x', 'x');
told({
  name: 'left',
  record: {
    listed: busybox('ls', pod.volume),
    tmp: busybox('cat', '/tmp/x'),
    otherPod: busybox('cat', `${other.volume}/token`),
    overlay: overlaid === '' ? busybox('cat', '/mnt/..data/token') : overlaid,
  },
});
busybox('umount', '/mnt');

const neighbour = await enter(other);
await register(neighbour, other);
told({
  name: 'neighbour',
  record: {
    own: await ask(neighbour, { do: 'read', path: token }),
    theirs: await ask(neighbour, { do: 'read', path: `${pod.volume}/token` }),
    byFirst: await ask(wrapper, { do: 'read', path: `${other.volume}/token` }),
  },
});

write(pod, 'second');
told({ name: 'rotated', record: await all() });

busybox('mount', '-o', 'bind', '/run', strange.volume);
writeFileSync('/run/of-node', 'of-node');
const third = await enter(strange);
await register(third, strange);
told({ name: 'nodeFiles', record: { run: busybox('cat', '/run/of-node'), lines: reasons() } });

told({ name: 'hits', record: agent.events('hit.denied').concat(agent.events('hit.seen')) });

await agent.kill('SIGKILL');
await kubelet.kill();
const later = await startLineProcess('/usr/bin/node', [actor]);
await ask(later, { do: 'listen', port: kubeletPort });
kubelet = later;
told({ name: 'withoutAgent', record: await all() });
await agent.restart();
let again = '';
for (let tries = 0; tries < 100 && again !== 'second'; tries += 1) {
  await sleep(100);
  again = await ask(kubelet, { do: 'read', path: `${pod.volume}/token` });
}
told({ name: 'restarted', record: await all() });
await wrapper.kill();
await sleep(500);
told({ name: 'ended', record: { node: busybox('cat', `${pod.volume}/token`) } });
for (const each of [intruder, neighbour, third, kubelet]) await each.kill();
await agent.stop();
process.exit();

function reasons(): string[] {
  return agent.events('token.unguarded').map(({ reason }) => String(reason));
}
