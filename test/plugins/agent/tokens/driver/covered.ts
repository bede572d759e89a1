/** `covered.ts ACTOR AGENT TIER`: pods without the agent's socket, which the agent covers by their label; who gets at their token. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { startFakeKube } from '../../../../support/fake-kube.ts';
import { startSvcAgent } from '../../../../support/svc-agent.ts';
import {
  ask,
  bringActor,
  brought,
  busybox,
  kubeletPort,
  makePod,
  mountTmpfs,
  type RunningContainer,
  startActor,
  startContainer,
  token,
  told,
  until,
  write,
} from './pod.ts';

const [actor = '', agentEntry = '', tier = '1'] = process.argv.slice(2);
const denied = 'Permission denied';

const kubelet = await startActor(actor);
await ask(kubelet, { do: 'listen', port: kubeletPort });
const kube = await startFakeKube();
const config = {
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
  clusters: [{ name: 'test', cluster: { server: kube.url, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'test', user: { token: 'of-the-test' } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
};
writeFileSync('/tmp/kubeconfig', JSON.stringify(config));
const agent = await startSvcAgent({
  bpfFolder: '/sys/fs/bpf/tokens',
  entry: agentEntry,
  env: {
    ...{ SVC_AGENT_TIERS: tier, SVC_AGENT_REACTIVE_KILL: 'false' },
    ...{ KUBECONFIG: '/tmp/kubeconfig', NODE_NAME: 'here' },
  },
});

const pod = makePod('d');
kube.put('pod-a', { uid: pod.uid });
mountTmpfs(pod);
write(pod, 'first');
const reads = ({ first }: RunningContainer) => ask(first, { do: 'read', path: token });
const cat = (container: RunningContainer) => brought(container, 'cat', token);

const wrapper = await startContainer(pod, '1', { actor });
await until(denied, () => cat(wrapper));
told({
  name: 'covered.guarded',
  record: {
    wrapper: await reads(wrapper),
    child: await ask(wrapper.first, { do: 'cat', path: token }),
    handed: await ask(wrapper.first, { do: 'hand', path: token }),
    exec: cat(wrapper),
    nsenter: busybox('nsenter', '-t', String(wrapper.first.pid), '-m', '-r', 'cat', token),
    procRoot: busybox('cat', `/proc/${wrapper.first.pid}/root${token}`),
    node: busybox('cat', `${pod.volume}/token`),
    kubelet: await ask(kubelet, { do: 'read', path: `${pod.volume}/token` }),
  },
});

symlinkSync('/usr/bin/node', '/tmp/become');
wrapper.first.send(JSON.stringify({ do: 'become', path: '/tmp/become' }));
told({
  name: 'covered.executed',
  record: {
    wrapper: await reads(wrapper),
    exec: cat(wrapper),
    comm: await until('become', () => agent.events('hit.denied').at(-1)?.['target_comm']),
  },
});

const proxy = await startContainer(pod, '2', { actor });
const without = await startContainer(pod, '3', { actor, withVolume: false });
told({
  name: 'covered.later',
  record: {
    proxy: await until('first', () => reads(proxy)),
    exec: cat(proxy),
    wrapper: await reads(wrapper),
    without: await ask(without.first, { do: 'read', path: `/proc/${wrapper.first.pid}/root${token}` }),
  },
});

// as with shareProcessNamespace, where what was brought in may outlive the first process for a moment
const brother = await bringActor(proxy, actor);
await ask(brother, { do: 'read', path: '/dev/null' });
await proxy.first.kill();
const again = await startContainer(pod, '4', { actor });
told({
  name: 'covered.restarted',
  record: {
    again: await until('first', () => reads(again)),
    brother: await ask(brother, { do: 'read', path: token }),
    exec: cat(again),
  },
});
await wrapper.first.kill();

kube.put(
  'pod-a',
  { uid: pod.uid },
  {
    spec: { ephemeralContainers: [{ name: 'debugger', volumeMounts: [{ name: 'svc-wrapper-token' }] }] },
    status: { containerStatuses: [{ name: 'app', containerID: `containerd://${'6'.repeat(64)}` }] },
  },
);
await new Promise((resolve) => setTimeout(resolve, 2_000));
const ephemeral = await startContainer(pod, '5', { actor });
const known = await startContainer(pod, '6', { actor });
told({
  name: 'covered.ephemeral',
  record: {
    known: await until('first', () => reads(known)),
    ephemeral: await reads(ephemeral),
  },
});

const counts = ['token.guarded', 'token.unguarded'].map((event) => [event, agent.events(event).length]);
told({ name: 'covered.log', record: Object.fromEntries(counts) });

await agent.restart();
write(pod, 'second');
const last = await startContainer(pod, '7', { actor });
told({
  name: 'covered.agentRestarted',
  record: { last: await reads(last), again: await reads(again), exec: cat(again) },
});
for (const { first } of [again, ephemeral, known, last, without]) await first.kill();
await brother.kill();
told({
  name: 'covered.ended',
  record: { node: await until('second', () => busybox('cat', `${pod.volume}/token`)) },
});
await kubelet.kill();
await agent.stop();
await kube.stop();
process.exit();
