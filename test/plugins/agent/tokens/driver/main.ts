/** `main.ts ACTOR AGENT TIER`: pods with token volumes on a node of their own, whose wrappers register, and who gets at the tokens. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LineProcess } from '../../../../support/bypass/line-process.ts';
import { type SvcAgent, startSvcAgent } from '../../../../support/svc-agent.ts';
import {
  ask,
  bringActor,
  brought,
  busybox,
  kubeletPort,
  makePod,
  mountTmpfs,
  type Pod,
  startActor,
  startContainer,
  token,
  told,
  until,
  write,
} from './pod.ts';

const [actor = '', agentEntry = '', tier = '1'] = process.argv.slice(2);

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
const container = await startContainer(pod, 'a', { actor });
const wrapper = container.first;
const inPod = (path: string) => `/proc/${wrapper.pid}/root${path}`;
const register = (process_: LineProcess, { uid }: Pod) =>
  ask(process_, { do: 'register', socketPath, podUid: uid });

told({
  name: 'before',
  record: { exec: brought(container, 'cat', token), node: busybox('cat', `${pod.volume}/token`) },
});

await register(wrapper, pod);
told({ name: 'noKubelet', record: { exec: brought(container, 'cat', token), lines: reasons() } });

let kubelet = await startActor(actor);
await ask(kubelet, { do: 'listen', port: kubeletPort });
await register(wrapper, pod);
const intruder = await bringActor(container, actor);
const intruded = await register(intruder, pod);
mkdirSync('/mnt/again');
busybox('mount', '-o', 'bind', pod.volume, '/mnt/again');
for (const name of ['up', 'work', 'merged']) mkdirSync(`/tmp/overlay/${name}`, { recursive: true });
const overlaid = busybox('mount', '-t', 'overlay', 'overlay', '-o', `lowerdir=${pod.volume}`, '/mnt');
const readers = () => ({
  wrapper: '',
  child: '',
  exec: brought(container, 'cat', token),
  nsenter: busybox('nsenter', '-t', String(wrapper.pid), '-m', '-r', 'cat', token),
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

const { first: neighbour } = await startContainer(other, 'b', { actor });
await register(neighbour, other);
told({
  name: 'neighbour',
  record: {
    own: await ask(neighbour, { do: 'read', path: token }),
    theirs: await ask(neighbour, { do: 'read', path: inPod(token) }),
    byFirst: await ask(wrapper, { do: 'read', path: `/proc/${neighbour.pid}/root${token}` }),
  },
});

write(pod, 'second');
told({ name: 'rotated', record: await all() });

busybox('mount', '-o', 'bind', '/run', strange.volume);
writeFileSync('/run/of-node', 'of-node');
const { first: third } = await startContainer(strange, 'c', { actor });
await register(third, strange);
told({ name: 'nodeFiles', record: { run: busybox('cat', '/run/of-node'), lines: reasons() } });

told({ name: 'hits', record: agent.events('hit.denied').concat(agent.events('hit.seen')) });

await agent.kill('SIGKILL');
await kubelet.kill();
const later = await startActor(actor);
await ask(later, { do: 'listen', port: kubeletPort });
kubelet = later;
told({ name: 'withoutAgent', record: await all() });
await agent.restart();
await until('second', () => ask(kubelet, { do: 'read', path: `${pod.volume}/token` }));
told({ name: 'restarted', record: await all() });
await wrapper.kill();
told({ name: 'ended', record: { node: await until('second', () => busybox('cat', `${pod.volume}/token`)) } });
for (const each of [intruder, neighbour, third, kubelet]) await each.kill();
await agent.stop();
process.exit();

function reasons(): string[] {
  return agent.events('token.unguarded').map(({ reason }) => String(reason));
}
