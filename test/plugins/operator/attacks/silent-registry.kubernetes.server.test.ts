import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { patient } from '../../../support/patience.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient, optedIn } from '../faults/support/admissions.ts';
import { admits } from '../faults/support/bed.ts';

const test = suite('a registry that takes connections and says nothing');
export const timeout = 240_000;

const many = 150;

let cluster: OperatorCluster;
let silent: Server;
let dialled = 0;

test.before(async () => {
  silent = createServer(() => {
    dialled += 1;
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const vaultAddress = 'https://vault.example:8200';
  cluster = await startOperatorCluster({ values: { operator: { vaultAddress } } });
});
test.after(async () => {
  await cluster?.stop();
  silent?.close();
});

/** Nothing but the image says what it runs. */
function unknown(image: string, more: object = {}): object {
  const pod = optedIn() as { spec: object };
  return { ...pod, spec: { ...pod.spec, containers: [{ name: 'app', image }], ...more } };
}

const silentImage = () => `127.0.0.1:${(silent.address() as AddressInfo).port}/team/app:v1`;

test('150 pods that wait for it keep none of another namespace waiting', async () => {
  const { kubernetes } = cluster;
  const [noisy, other] = [await kubernetes.createNamespace(), await kubernetes.createNamespace()];
  await admits(kubernetes, other);
  const [flood, client] = [
    createAdmissionClient(kubernetes, noisy, many),
    createAdmissionClient(kubernetes, other),
  ];
  let answered = 0;
  const waiting = Array.from({ length: many }, async () => {
    const one = await flood.admit(unknown(silentImage()));
    answered += 1;
    return one;
  });
  await waitFor('the registry to be asked', () => dialled > 0);
  const slowest: number[] = [];
  for (let left = 20; left > 0; left--) {
    const one = await client.admit();
    assert.ok(one.injected, one.message);
    slowest.push(one.ms);
  }
  assert.ok(answered < many, 'no review waits for the registry any more');
  console.log(`slowest ${Math.max(...slowest).toFixed(0)} ms of those admitted meanwhile`);
  // a quiet machine needs some 20 ms; what waits for a place waits until the reviews before it give up
  assert.ok(Math.max(...slowest) < patient(5_000), `slowest ${Math.max(...slowest)} ms`);
  const refused = await Promise.all(waiting);
  flood.close();
  client.close();
  const busy = refused.filter(({ message }) => message.includes('too many reviews are waiting'));
  assert.ok(busy.length >= many - 24, `${busy.length} were answered at once`);
  for (const { injected, ms, message } of refused) {
    assert.not(injected);
    assert.ok(ms < patient(20_000), `${ms} ms: ${message}`);
  }
});

test('a root of an image that it keeps to itself is refused, not started without its lock', async () => {
  const namespace = await cluster.kubernetes.createNamespace();
  const client = createAdmissionClient(cluster.kubernetes, namespace);
  const pod = optedIn() as { metadata: object; spec: { containers: object[] } };
  const containers = pod.spec.containers.map((one) => ({ ...one, image: silentImage() }));
  const { injected, message } = await client.admit({ metadata: pod.metadata, spec: { containers } });
  assert.not(injected);
  assert.match(message, /its registry did not say.*runAsUser/, message);
  client.close();
});

test('closed, silent and foreign ports are refused for the same reason, which only the log tells apart', async () => {
  const namespace = await cluster.kubernetes.createNamespace();
  const client = createAdmissionClient(cluster.kubernetes, namespace);
  const metrics = cluster.replicas[0]?.started['metrics'] ?? '';
  const images = [
    silentImage(),
    '127.0.0.1:1/team/app:v1',
    `${metrics}/team/app:v1`,
    '0.0.0.0:1/team/app:v1',
  ];
  const told = new Set<string>();
  for (const image of images) {
    const { message } = await client.admit(unknown(image));
    assert.ok(message.includes(image), message);
    told.add(message.replaceAll(image, 'IMAGE'));
  }
  client.close();
  assert.is(told.size, 1, [...told].join('\n'));
  const logged = cluster.replicas[0]?.events('image.lookup_failed').map(({ error }) => String(error)) ?? [];
  for (const code of ['ECONNREFUSED', 'ADDRESS_REFUSED'])
    assert.ok(
      logged.some((line) => line.includes(code)),
      code,
    );
});

test('in a pod, neither its own addresses nor those of its cloud are called', async () => {
  const namespace = await cluster.kubernetes.createNamespace();
  const client = createAdmissionClient(cluster.kubernetes, namespace);
  const first = cluster.replicas[0];
  const replica = await cluster.add({ inside: true });
  await first?.end('SIGTERM');
  await admits(cluster.kubernetes, namespace);
  const { port } = silent.address() as AddressInfo;
  const before = dialled;
  const hosts = ['0.0.0.0', '[::]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '169.254.169.254'];
  for (const host of hosts) {
    const { injected, message } = await client.admit(unknown(`${host}:${port}/team/app:v1`));
    assert.not(injected);
    assert.match(message, /its registry did not say/, host);
  }
  client.close();
  assert.is(dialled, before);
  const logged = JSON.stringify(replica.events('image.lookup_failed'));
  assert.is(logged.split('ADDRESS_REFUSED').length - 1, hosts.length, logged);
});

test.run();
