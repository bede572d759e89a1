import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findCgroupRoot } from '../../../../src/plugins/agent/pods/pod-cgroups.ts';
import { family } from '../../../support/process-memory.ts';
import { type SvcAgent, startSvcAgent } from '../../../support/svc-agent.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { privateFileSystem } from '../../agent/bpf/private-file-system.ts';
import { attack } from '../../agent/guard/bed.ts';
import { digestOf, toldIn } from './application.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { app, run } from './pods.ts';
import { startWorld, type World } from './world.ts';

export const timeout = 300_000;
const test = suite('mutated pods and the node agent');
const SECRET = 'guarded-by-the-agent';

let world: World;
let folder: TemporaryFolder;
let files: ReturnType<typeof privateFileSystem>;
let agent: SvcAgent;
const pods: PodRun[] = [];

test.before(async () => {
  folder = temporaryFolder('agent-socket');
  const socket = join(folder.path, 'agent.sock');
  world = await startWorld({ env: { SVC_OPERATOR_AGENT_SOCKET: socket } });
  await world.kv.put('app', { PASSWORD: SECRET });
  const root = join(findCgroupRoot('/sys/fs/cgroup') ?? '', world.kubelet.cgroup);
  mkdirSync(join(root, 'kubepods/burstable'), { recursive: true });
  files = privateFileSystem();
  const token = await world.kube.tokenFor({ namespace: 'svc-system', name: 'svc-ebpf' });
  agent = await startSvcAgent({
    bpfFolder: join(files.path, 'svc'),
    env: {
      ...{ KUBECONFIG: world.kube.kubeconfig(token), NODE_NAME: world.kubelet.nodeName },
      ...{ SVC_AGENT_SOCKET: socket, SVC_AGENT_REACTIVE_KILL: 'true', SVC_CGROUP_ROOT: root },
    },
  });
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await agent?.stop();
  files?.remove();
  await world?.stop();
  await folder?.remove();
});

const stays = app({ env: [{ name: 'APP_STAYS', value: 'true' }] });

/** The pod once its application runs, and the application's process. */
async function start(namespace: string, name: string, securityContext: object) {
  const containers = [{ ...stays, securityContext }];
  const pod = await run(world, { namespace, name, spec: { containers } });
  pods.push(pod);
  const container = pod.container('app');
  await waitFor('the application', () => /^staying$/m.test(container.output()), {
    details: () => container.output() + agent.output(),
  });
  assert.is(toldIn(container.output()).digest, digestOf(SECRET));
  const application = family(container.pid)[1] ?? 0;
  return { pod, container, victim: { pid: application, secret: SECRET, end: async () => undefined } };
}

test('a root pod locks its memory and is registered before it has its secret; who looks is killed', async () => {
  const namespace = await world.namespace();
  const { pod, container, victim } = await start(namespace, 'registered', { runAsUser: 0 });
  const events = container.output();
  assert.match(events, /"event":"starting".*"lock":"all"/);
  assert.ok(events.indexOf('agent.registered') > 0, events);
  const registered = agent.events('registered').find((line) => line['pod'] === pod.pod.metadata.uid);
  assert.ok(registered, agent.output());
  assert.is(attack(victim), 'killed');
});

test('a pod that may not reach the agent is covered by its cgroup', async () => {
  const namespace = await world.namespace({ 'pod-security.kubernetes.io/enforce': 'baseline' });
  const { pod, container, victim } = await start(namespace, 'covered', { runAsUser: 1000 });
  assert.match(container.output(), /"event":"starting".*"lock":"partial"/);
  const { uid } = pod.pod.metadata;
  await waitFor(
    'the pod to be covered',
    () => agent.events('pod.covered').some((line) => line['pod'] === uid),
    {
      details: agent.output,
    },
  );
  await waitFor('the attempt to be ended', () => attack(victim) === 'killed');
});

test.run();
