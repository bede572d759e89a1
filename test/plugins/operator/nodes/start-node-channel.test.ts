import { readFileSync, writeFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type SecureClientSessionOptions,
} from 'node:http2';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NodeState } from '../../../../src/plugins/agent/operator/contract.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { anyNode, oneNode } from '../../../support/operator-channel.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  type AgentRig,
  accessEventBy,
  calmState,
  type RigOptions,
  startAgent,
} from '../../agent/operator/agent-rig.ts';
import { type ChannelRig, startChannel } from './channel-rig.ts';

export const slow = true;
export const idle = true;

interface Context {
  rig: ChannelRig;
  start(options?: Partial<RigOptions>): AgentRig;
  agents: AgentRig[];
}

const test = suite<Context>('reports of real node agents');

test.before.each(async (context) => {
  const rig = await startChannel();
  context.rig = rig;
  context.agents = [];
  context.start = (options) => {
    const tokenPath = rig.tokenOf(options?.node ?? 'node-1');
    const agent = startAgent({ address: rig.address, tls: rig.tls, tokenPath, ...options });
    context.agents.push(agent);
    return agent;
  };
});

test.after.each(async ({ rig, agents }) => {
  await Promise.all(agents.map(({ channel }) => channel.close()));
  await rig.stop();
});

const connected = ({ channel }: AgentRig) => waitFor('the connection', () => channel.status.connected);
const failed = ({ channel }: AgentRig, reason: RegExp) =>
  waitFor(`the failure ${reason}`, () => reason.test(channel.status.lastError ?? ''), {
    timeoutMs: 20_000,
    details: () => String(channel.status.lastError),
  });
/** Before any report was looked at. */
const refusedByTls =
  /^(?!.*(no certificate for|too many)).*(alert|ECONNRESET|closed|disconnected|TLS|dropped|connection)/i;
const podUid = 'b6a1c1de-0000-4000-8000-000000000001';

function busyState(): NodeState {
  const measured = {
    wrapperVersion: '0.1.0',
    wrapper: {
      ...({ lockMode: 'all', lockedBytes: 100, unlockedBytes: 2, swappedBytes: 0 } as const),
      ...{ lockLimit: undefined, coreLimit: 1, dumpable: false, ipcLock: true },
    },
    application: { pid: 9, lockedBytes: 0, swappedBytes: 0, coreLimit: undefined, dumpable: undefined },
    secretMemory: { kind: 'memfd_secret', bytes: 4096, locked: true, undumped: true },
    delivery: 'fd',
  } as const;
  const wrapper = { pid: 7, start: 1n, registration: 'wrapper', measured } as const;
  const child = { pid: 8, start: 2n, registration: 'inherited' } as const;
  return {
    ...calmState(),
    pods: [
      {
        uid: podUid,
        labelled: true,
        covered: false,
        uncoveredReason: 'No cgroup.',
        processes: [wrapper, child],
      },
      { uid: '', labelled: false, covered: false, uncoveredReason: '', processes: [child] },
    ],
  };
}

test('make known what each node enforces, for which pods, as their wrappers measured', async ({
  rig,
  start,
}) => {
  const agent = start({ node: 'node-7' });
  agent.state = busyState();
  agent.channel.changed();
  const pod = await waitFor('the pod', () => rig.channel.agentOf('node-7')?.pods.get(podUid));
  assert.is(rig.channel.agentOf('node-7')?.tier, 1);
  assert.is(rig.channel.agentOf('node-7')?.enforcing, true);
  assert.equal(pod, {
    covered: false,
    uncoveredReason: 'No cgroup.',
    processes: 2,
    reports: [
      {
        wrapperVersion: '0.1.0',
        wrapper: busyState().pods[0]?.processes[0]?.measured?.wrapper,
        application: busyState().pods[0]?.processes[0]?.measured?.application,
        secretMemory: { kind: 'memfd_secret', bytes: 4096, locked: true, undumped: true },
        delivery: 'fd',
      },
    ],
  });
  assert.equal([...(rig.channel.agentOf('node-7')?.pods.keys() ?? [])], [podUid]);
  assert.is(rig.channel.agentOf('node-8'), undefined);
});

test('make known why a node has no higher tier, in the log too', async ({ rig, start }) => {
  const agent = start({ node: 'node-7' });
  const passedOver = [{ tier: 1, reason: 'bpf is not in the list of the LSMs.' }] as const;
  agent.state = { ...calmState(), tier: 3, enforcing: false, reason: 'Audit mode.', passedOver };
  agent.channel.changed();
  await waitFor('the tier', () => rig.channel.agentOf('node-7')?.tier === 3);
  assert.is(rig.channel.agentOf('node-7')?.reason, 'Audit mode.');
  assert.equal(rig.channel.agentOf('node-7')?.passedOver, passedOver);
  const line = rig.lines.findLast(({ event }) => event === 'node.state');
  assert.is(line?.['reason'], 'Audit mode.');
  assert.equal(line?.['passedOver'], ['lsm: bpf is not in the list of the LSMs.']);
});

test('are told onwards with each change, and not without one', async ({ rig, start }) => {
  const changed: string[] = [];
  rig.channel.onChange((node) => changed.push(node));
  const agent = start({ timings: { heartbeat: 20 } });
  await waitFor('the state', () => changed.length === 1);
  await waitFor(
    'heartbeats',
    async () => ((await rig.metric('svc_node_reports_total{result="ok"}')) ?? 0) > 5,
  );
  assert.equal(changed, ['node-1']);
  agent.state = { ...calmState(), tier: 3, enforcing: false };
  agent.channel.changed();
  await waitFor('the change', () => changed.length === 2);
  assert.is(rig.channel.agentOf('node-1')?.tier, 3);
});

test('are counted, attempts by attack path and outcome', async ({ rig, start }) => {
  const agent = start();
  for (let i = 0; i < 30; i++) agent.channel.hit(accessEventBy(i % 3));
  agent.channel.hit(accessEventBy(9, { road: 'ptrace', outcome: 'killed' }));
  await waitFor('an empty queue', () => agent.channel.status.queued === 0);
  assert.is(await rig.metric('svc_node_hits_total{road="environ",outcome="denied"}'), 30);
  assert.is(await rig.metric('svc_node_hits_total{road="ptrace",outcome="killed"}'), 1);
  const lines = rig.lines.filter(({ event }) => event === 'node.hits');
  assert.is(
    lines.reduce((sum, { hits }) => sum + Number(hits), 0),
    31,
  );
  assert.ok(lines.every(({ node, pods }) => node === 'node-1' && String(pods) === podUid));
  await waitFor('the gauge', async () => (await rig.metric('svc_nodes{tier="lsm",enforcing="true"}')) === 1);
});

test('are for the leader alone, who asks for the state that it does not know', async ({ rig, start }) => {
  const agent = start();
  await waitFor('the state', () => rig.channel.agentOf('node-1') !== undefined);
  rig.leadership.lead(false);
  assert.is(rig.channel.agentOf('node-1'), undefined);
  assert.is(await rig.metric('svc_nodes{tier="lsm",enforcing="true"}'), undefined);
  agent.channel.hit(accessEventBy(1));
  await failed(agent, /does not lead/);
  rig.leadership.lead(true);
  await waitFor('the state again', () => rig.channel.agentOf('node-1')?.tier === 1);
  await waitFor('an empty queue', () => agent.channel.status.queued === 0);
  assert.is(await rig.metric('svc_node_hits_total{road="environ",outcome="denied"}'), 1);
});

test('are believed for 40 seconds after the last one', async ({ rig, start }) => {
  const changed: string[] = [];
  const agent = start({ timings: { heartbeat: 600_000 } });
  await waitFor('the state', () => rig.channel.agentOf('node-1') !== undefined);
  await agent.channel.close();
  rig.channel.onChange((node) => changed.push(node));
  rig.wait(35_000);
  assert.is(rig.channel.agentOf('node-1')?.tier, 1);
  rig.wait(6_000);
  assert.is(rig.channel.agentOf('node-1'), undefined);
  assert.equal([...rig.channel.agents()], []);
  await waitFor('the change', () => changed.length === 1);
  await waitFor('the metric', async () => (await rig.metric('svc_nodes_silent')) === 1);
  assert.ok(rig.lines.some(({ event, node }) => event === 'node.silent' && node === 'node-1'));
});

test('are admitted by the name in the certificate only', async ({ rig, start }) => {
  const write = (uris: readonly string[]) =>
    rig.writeTls(rig.authority.issue({ commonName: anyNode, uris, dnsNames: ['localhost'] }));
  write([oneNode('node-1')]);
  await connected(start());
  await failed(start({ node: 'node-2' }), /permission_denied|no certificate for node-2/);
  write([]);
  await failed(start({ node: 'node-3' }), /no certificate for node-3/);
  write([`${anyNode}s`, `x${anyNode}`, `${anyNode}/`]);
  await failed(start({ node: 'node-4' }), /no certificate for node-4/);
  assert.equal(
    [...rig.channel.agents()].map(({ node }) => node),
    ['node-1'],
  );
});

test('are admitted by the token of their own node, where the certificate is that of all', async ({
  rig,
  start,
}) => {
  await connected(start());
  const stolen = { node: 'node-2', tokenPath: rig.tokenOf('node-1') };
  await failed(start(stolen), /permission_denied|of another node than node-2/);
  const invented = rig.tokenOf('invented');
  writeFileSync(invented, 'x.y.z');
  await failed(start({ node: 'node-3', tokenPath: invented }), /unauthenticated|does not accept/);
  const without = startAgent({ address: rig.address, tls: rig.tls, node: 'node-4' });
  await failed(without, /needs a token of the pod/);
  await without.channel.close();
  await failed(start({ node: 'node-5', tokenPath: '/does/not/exist' }), /token file.*ENOENT/);
  assert.equal(
    [...rig.channel.agents()].map(({ node }) => node),
    ['node-1'],
  );
});

test('need no token where the certificate names the node', async ({ rig }) => {
  const uris = [oneNode('node-1')];
  rig.writeTls(rig.authority.issue({ commonName: 'agent', uris, dnsNames: ['localhost'] }));
  const agent = startAgent({ address: rig.address, tls: rig.tls });
  await connected(agent);
  await agent.channel.close();
});

test('go on with the token that the kubelet has written last', async ({ rig, start }) => {
  const tokenPath = rig.tokenOf('node-1');
  const agent = start({ tokenPath, timings: { heartbeat: 20 } });
  await connected(agent);
  writeFileSync(tokenPath, 'revoked');
  await failed(agent, /does not accept/);
  rig.tokenOf('node-1');
  await connected(agent);
});

test('are not taken over a connection without a certificate of the authorities', async ({ rig, start }) => {
  const stranger = createCertificateAuthority('stranger');
  rig.writeTls(stranger.issue({ commonName: 'agent', uris: [anyNode] }));
  await failed(start(), refusedByTls);
  rig.writeTls(
    rig.authority.issue({ commonName: 'agent', uris: [anyNode], notAfter: new Date(Date.now() - 1_000) }),
  );
  await failed(start({ node: 'node-2' }), /expired/);
  assert.equal([...rig.channel.agents()], []);
});

test('go on while certificates are renewed, and none is lost', async ({ rig, start }) => {
  const agents = Array.from({ length: 5 }, (_, n) =>
    start({ node: `node-${n}`, timings: { batch: 5, backoffMax: 50 } }),
  );
  await Promise.all(agents.map(connected));
  let authority = rig.authority;
  let sent = 0;
  for (let round = 0; round < 6; round++) {
    const next = createCertificateAuthority(`CA ${round}`);
    const both = authority.cert + next.cert;
    rig.writeTls({ ca: both });
    rig.renew(next, both);
    for (let i = 0; i < 100; i++) for (const agent of agents) agent.channel.hit(accessEventBy(i));
    sent += 500;
    await waitFor('empty queues', () => agents.every(({ channel }) => channel.status.queued === 0));
    rig.writeTls({ ...next.issue({ commonName: 'agent', uris: [anyNode] }), ca: next.cert });
    rig.renew(next);
    authority = next;
  }
  await Promise.all(agents.map(connected));
  assert.is(await rig.metric('svc_node_hits_total{road="environ",outcome="denied"}'), sent);
  const refused = agents.flatMap(({ lines }) => lines.filter(({ result }) => result === 'invalid_argument'));
  assert.equal(refused, []);
});

test('end with the authority that their certificate is of', async ({ rig, start }) => {
  const agent = start({ timings: { heartbeat: 250 } });
  await connected(agent);
  const other = createCertificateAuthority('other agents');
  rig.renew(rig.authority, other.cert);
  await failed(agent, refusedByTls);
  rig.writeTls(other.issue({ commonName: 'agent', uris: [anyNode] }));
  await connected(agent);
});

test('go on with the former certificates while the new ones cannot be used', async ({ rig, start }) => {
  rig.renew(rig.authority, '');
  assert.is(rig.health.snapshot().status, 'degraded');
  await connected(start());
  rig.renew(rig.authority);
  assert.is(rig.health.snapshot().status, 'ok');
  await connected(start({ node: 'node-2' }));
});

test('are taken while hundreds of strangers never end their handshake, and these are ended', async ({
  rig,
  start,
}) => {
  const strangers = Array.from({ length: 400 }, () =>
    connect(rig.address.port, rig.address.host).on('error', () => {}),
  );
  const left = () => strangers.filter(({ closed }) => !closed).length;
  await waitFor('the first ones to give way', () => left() < 300, { timeoutMs: 9_000 });
  await connected(start());
  await waitFor('the others to be late', () => left() === 0, { timeoutMs: 30_000 });
});

/** Begins a report of that many bytes, and leaves out the last. @returns whether the operator has taken it in */
function unfinishedReport(session: ClientHttp2Session, bytes: number): () => boolean {
  const report = session.request({
    ':method': 'POST',
    ':path': '/svc.operator.v1.NodeChannel/ReportNode',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let taken = false;
  const message = Buffer.alloc(5 + bytes);
  message.writeUInt32BE(bytes + 1, 1);
  report
    .on('error', () => {})
    .write(message, (error) => {
      taken = !error;
    });
  return () => taken;
}

/** A connection from 127.0.0.`host` with the certificate that all agents share. */
function sessionFrom(host: number, { address, tls }: ChannelRig): ClientHttp2Session {
  const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => readFileSync(path));
  const localAddress = `127.0.0.${host}`;
  const options = { ca, key, cert, servername: 'localhost', localAddress } as SecureClientSessionOptions;
  return connectHttp2(`https://${address.host}:${address.port}`, options).on('error', () => {});
}

test('are read a few at a time, fewer of one address, however many are begun by whoever has a certificate', async ({
  rig,
  start,
}) => {
  const begun = (hosts: readonly number[]) => {
    const sessions = hosts.map((host) => sessionFrom(host, rig));
    const reports = sessions.flatMap((session) => [1, 2].map(() => unfinishedReport(session, 1_000_000)));
    return { sessions, taken: () => reports.filter((isTaken) => isTaken()).length };
  };
  const one = begun([2, 2, 2, 2]);
  await waitFor('the first ones of one address', () => one.taken() >= 2);
  await setTimeout(500);
  assert.is(one.taken(), 2);
  const others = begun([3, 3, 4, 4, 5, 5, 6, 6]);
  await waitFor('those of others', () => one.taken() + others.taken() >= 8);
  await setTimeout(500);
  assert.is(one.taken() + others.taken(), 8);
  // all places are held by slow ones
  await connected(start());
  for (const session of [...one.sessions, ...others.sessions]) session.destroy();
});

test('go on where one address has taken every connection, which then gives way', async () => {
  const rig = await startChannel({}, 10);
  const agents = [1, 2, 3].map((n) =>
    startAgent({
      ...{ address: rig.address, tls: rig.tls, node: `node-${n}`, tokenPath: rig.tokenOf(`node-${n}`) },
      timings: { heartbeat: 100 },
    }),
  );
  await Promise.all(agents.map(connected));
  const greedy: ClientHttp2Session[] = [];
  for (let n = 0; n < 30; n++) {
    const session = sessionFrom(9, rig);
    unfinishedReport(session, 1_000);
    greedy.push(session);
    await waitFor('the connection', () => session.destroyed || !session.connecting);
  }
  const open = () => greedy.filter(({ destroyed }) => !destroyed).length;
  await waitFor('the others to give way', () => open() <= 9);
  await setTimeout(500);
  await Promise.all(agents.map(connected));
  for (const session of greedy) session.destroy();
  await Promise.all(agents.map(({ channel }) => channel.close()));
  await rig.stop();
});

test('end promptly, with agents that are connected and callers that say nothing', async ({ rig, start }) => {
  const silent = connect(rig.address.port, rig.address.host);
  silent.on('error', () => {});
  await connected(start());
  await rig.stop();
  await waitFor('the end of the silent one', () => silent.destroyed || silent.readableEnded);
  silent.destroy();
});

test.run();
