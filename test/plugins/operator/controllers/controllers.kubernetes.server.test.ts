import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { podObject, prepareCluster, type Replica, startReplica } from '../operator-rig.ts';

/** Hundreds of objects, on a machine that may be busy. */
export const timeout = 300_000;

export const idle = true;

const test = suite('controllers');
const resources = '/apis/svc.io/v1alpha1';
const authority = createCertificateAuthority('vault');
const storeAuthority = createCertificateAuthority('store');
const next = createCertificateAuthority('next vault');

let kube: Kubernetes;
let token: string;
let folder: TemporaryFolder;
let caFile: string;
let storeCaFile: string;
let replica: Replica;

test.before(async () => {
  kube = await startKubernetes();
  token = await prepareCluster(kube);
  folder = temporaryFolder('authorities');
  caFile = join(folder.path, 'ca.pem');
  // a key that somebody has left in the file
  writeFileSync(caFile, `${authority.issue({ commonName: 'x' }).key}\n${authority.cert}`);
  storeCaFile = join(folder.path, 'store-ca.pem');
  writeFileSync(storeCaFile, storeAuthority.cert);
  replica = await startReplica(kube, token, { caFile, storeCaFile });
});

test.after(async () => {
  await replica?.stop();
  await kube?.stop();
  await folder?.remove();
});

const spec = {
  selector: { matchLabels: { app: 'shop' } },
  vault: { role: 'shop' },
  secretPaths: ['kv/shop'],
};

function create(namespace: string, kind: string, name: string, body: object) {
  const plural = `${kind.toLowerCase()}s`;
  const object = { apiVersion: 'svc.io/v1alpha1', kind, metadata: { name }, spec: body };
  return kube.must('POST', `${resources}/namespaces/${namespace}/${plural}`, object);
}

const configPath = (namespace: string, name: string) =>
  `${resources}/namespaces/${namespace}/serviceconfigs/${name}`;
const read = (path: string) => kube.must('GET', path);
const createPod = (namespace: string, pod: object) =>
  kube.must('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
const removePod = (namespace: string, name: string) =>
  kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
const statusWrites = ({ writes }: Replica, namespace: string) =>
  writes.filter(({ path }) => path.includes(`/${namespace}/`) && path.endsWith('/status')).length;
const labelsOf = async (namespace: string) =>
  (await read(`/api/v1/namespaces/${namespace}`)).metadata.labels ?? {};

// biome-ignore lint/suspicious/noExplicitAny: objects are picked apart freely
type Anything = any;
const condition = (object: Anything, type: string) =>
  object.status?.conditions?.find((one: Anything) => one.type === type);

async function whenCondition(path: string, type: string, reason: string) {
  let last: Anything;
  return waitFor(
    `${type} with ${reason}`,
    async () => {
      last = await read(path);
      return condition(last, type)?.reason === reason && last;
    },
    {
      timeoutMs: 20_000,
      details: () => JSON.stringify([last?.status, replica.logged.slice(-5)], undefined, 1),
    },
  );
}

async function eventsOf(namespace: string, reason: string): Promise<Anything[]> {
  const { items } = await read(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  return items.filter((event: Anything) => event.reason === reason);
}

test('a ServiceConfig labels its namespace, is ready then, and counts its pods', async () => {
  const namespace = await kube.createNamespace();
  await createPod(namespace, podObject('older', { labels: { app: 'shop' } }));
  await createPod(namespace, podObject('other', { labels: { app: 'else' } }));
  await create(namespace, 'ServiceConfig', 'shop', spec);
  const ready = await whenCondition(configPath(namespace, 'shop'), 'Ready', 'Enforced');
  assert.is((await labelsOf(namespace))['svc/protected'], 'true');
  assert.is(ready.status.observedGeneration, 1);
  assert.is(condition(ready, 'Valid').status, 'True');
  assert.match(condition(ready, 'Ready').message, '1 without the wrapper');
  await createPod(namespace, podObject('newer', { labels: { app: 'shop' }, isProtected: true }));
  await waitFor('the counts', async () => {
    const { status } = await read(configPath(namespace, 'shop'));
    return status.matchedPods === 2 && status.protectedPods === 1;
  });
  await kube.must('PATCH', `/api/v1/namespaces/${namespace}/pods/newer/status`, {
    status: { phase: 'Succeeded' },
  });
  await removePod(namespace, 'older');
  const { status } = await waitFor('fewer', async () => {
    const config = await read(configPath(namespace, 'shop'));
    return config.status.matchedPods === 0 && config;
  });
  assert.is(status.protectedPods, 0);
});

test('a status that says the same is not written again, and a burst of changes is few writes', async () => {
  const namespace = await kube.createNamespace();
  await create(namespace, 'ServiceConfig', 'shop', spec);
  await whenCondition(configPath(namespace, 'shop'), 'Ready', 'Enforced');
  const before = statusWrites(replica, namespace);
  const names = Array.from({ length: 30 }, (_, index) => `pod-${index}`);
  await Promise.all(names.map((name) => createPod(namespace, podObject(name, { labels: { app: 'shop' } }))));
  const full = await waitFor('all of them', async () => {
    const config = await read(configPath(namespace, 'shop'));
    return config.status.matchedPods === 30 && config;
  });
  const writes = statusWrites(replica, namespace);
  assert.ok(writes - before < 15, `${writes - before} writes`);
  await create(namespace, 'SecretMapping', 'bystander', { secrets: [{ path: 'kv/a' }] });
  await createPod(namespace, podObject('bystander'));
  await whenCondition(`${resources}/namespaces/${namespace}/secretmappings/bystander`, 'Valid', 'SpecValid');
  const after = await read(configPath(namespace, 'shop'));
  assert.is(after.metadata.resourceVersion, full.metadata.resourceVersion);
});

test('every error is said, in the status and in an event, until it is fixed', async () => {
  const namespace = await kube.createNamespace();
  const wrong = { ...spec, secretMappings: ['common'], vault: { role: 'shop', skipVerify: true } };
  await create(namespace, 'ServiceConfig', 'shop', wrong);
  const config = await whenCondition(configPath(namespace, 'shop'), 'Valid', 'SpecInvalid');
  const { message } = condition(config, 'Valid');
  assert.match(message, 'has no SecretMapping common');
  assert.match(message, 'skipVerify');
  assert.is(condition(config, 'Ready').status, 'False');
  const [event] = await waitFor('the event', async () => {
    const events = await eventsOf(namespace, 'SpecInvalid');
    return events.length > 0 && events;
  });
  assert.is(event?.regarding.name, 'shop');
  assert.is(event?.reportingController, 'svc-operator');
  await create(namespace, 'SecretMapping', 'common', { secrets: [{ path: 'kv/common' }] });
  await kube.must('PATCH', configPath(namespace, 'shop'), { spec: { vault: { skipVerify: false } } });
  const fixed = await whenCondition(configPath(namespace, 'shop'), 'Ready', 'Enforced');
  assert.is(condition(fixed, 'Valid').status, 'True');
  assert.is(fixed.status.observedGeneration, 2);
});

test('what a ServiceConfig leaves to annotations is no error', async () => {
  const namespace = await kube.createNamespace();
  await create(namespace, 'ServiceConfig', 'shop', { selector: {}, rotation: 'sighup' });
  const config = await whenCondition(configPath(namespace, 'shop'), 'Ready', 'Enforced');
  assert.match(condition(config, 'Valid').message, 'svc/vault-role: required');
});

test('the label is taken back with the last ServiceConfig and the last protected pod', async () => {
  const namespace = await kube.createNamespace({ team: 'a' });
  await create(namespace, 'ServiceConfig', 'shop', spec);
  await whenCondition(configPath(namespace, 'shop'), 'Ready', 'Enforced');
  await createPod(namespace, podObject('last', { isProtected: true }));
  await waitFor('the pod', () => replica.cluster.pods.get(`${namespace}/last`));
  await kube.must('DELETE', configPath(namespace, 'shop'));
  await waitFor('the deletion', () => !replica.cluster.serviceConfigs.get(`${namespace}/shop`));
  const other = await kube.createNamespace();
  await create(other, 'ServiceConfig', 'later', spec);
  await whenCondition(configPath(other, 'later'), 'Ready', 'Enforced');
  assert.is((await labelsOf(namespace))['svc/protected'], 'true', 'a pod is protected still');
  await removePod(namespace, 'last');
  await waitFor('no label', async () => !('svc/protected' in (await labelsOf(namespace))));
  assert.is((await labelsOf(namespace))['team'], 'a');
});

test('a label that somebody else has set stays as it is', async () => {
  const kept = await kube.createNamespace({ 'svc/protected': 'true' });
  await create(kept, 'ServiceConfig', 'shop', spec);
  await whenCondition(configPath(kept, 'shop'), 'Ready', 'Enforced');
  await kube.must('DELETE', configPath(kept, 'shop'));
  const refused = await kube.createNamespace({ 'svc/protected': 'false' });
  await create(refused, 'ServiceConfig', 'shop', spec);
  const config = await whenCondition(configPath(refused, 'shop'), 'Ready', 'NamespaceNotLabelled');
  assert.match(condition(config, 'Ready').message, 'svc/protected=false');
  await waitFor('the event', async () => (await eventsOf(refused, 'ForeignLabel')).length > 0);
  assert.is((await labelsOf(refused))['svc/protected'], 'false');
  await waitFor('the deletion', () => !replica.cluster.serviceConfigs.get(`${kept}/shop`));
  assert.is((await labelsOf(kept))['svc/protected'], 'true');
  const touched = replica.writes.some(({ path }) => path === `/api/v1/namespaces/${kept}`);
  assert.not(touched);
});

test('the namespaces that the webhook leaves out are not labelled, and a ServiceConfig there says so', async () => {
  await create('kube-system', 'ServiceConfig', 'shop', spec);
  await whenCondition(configPath('kube-system', 'shop'), 'Ready', 'NamespaceExempt');
  assert.not('svc/protected' in (await labelsOf('kube-system')));
});

test('a SecretMapping names who uses it', async () => {
  const namespace = await kube.createNamespace();
  await create(namespace, 'SecretMapping', 'common', { secrets: [{ path: 'kv/common' }] });
  await create(namespace, 'ServiceConfig', 'shop', { ...spec, secretMappings: ['common'] });
  await createPod(namespace, podObject('job', { annotations: { 'svc/secret-mapping': 'other, common' } }));
  const path = `${resources}/namespaces/${namespace}/secretmappings/common`;
  const mapping = await waitFor('its users', async () => {
    const found = await read(path);
    return found.status?.users === 2 && found;
  });
  assert.equal(mapping.status.usedBy, ['Pod/job', 'ServiceConfig/shop']);
  assert.is(condition(mapping, 'Valid').status, 'True');
  assert.ok(Date.parse(mapping.status.lastValidated) > 0);
  await kube.must('PATCH', configPath(namespace, 'shop'), { spec: { secretMappings: null } });
  await removePod(namespace, 'job');
  await waitFor('no users', async () => (await read(path)).status.users === 0);
  assert.is((await read(path)).status.lastValidated, mapping.status.lastValidated);
});

const mapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/svc-ca`;

test('namespaces of protected pods are given the authorities, and nothing but these', async () => {
  const namespace = await kube.createNamespace();
  await createPod(namespace, podObject('app', { isProtected: true }));
  const ca = await waitFor('the config map', () => read(mapPath(namespace)));
  assert.is(ca.data['ca.crt'].trim(), authority.cert.trim());
  assert.equal(Object.keys(ca.data).sort(), ['ca.crt', 'store-ca.crt']);
  assert.is(ca.data['store-ca.crt'].trim(), storeAuthority.cert.trim());
  assert.is(ca.metadata.labels['app.kubernetes.io/managed-by'], 'svc-operator');
  await kube.must('PATCH', mapPath(namespace), { data: { 'ca.crt': 'something else' } });
  await waitFor('its repair', async () => {
    const { data } = await read(mapPath(namespace));
    return data['ca.crt'].trim() === authority.cert.trim();
  });
  const labels = { 'app.kubernetes.io/managed-by': null };
  await kube.must('PATCH', mapPath(namespace), {
    metadata: { labels },
    data: { 'ca.crt': 'something else' },
  });
  await waitFor('its repair, though the label was taken off', async () => {
    const { data, metadata } = await read(mapPath(namespace));
    return data['ca.crt'].trim() === authority.cert.trim() && metadata.labels;
  });
  await removePod(namespace, 'app');
  await waitFor('its end', async () => (await kube.request('GET', mapPath(namespace))).status === 404);
});

test('a config map of somebody else is told of and left alone', async () => {
  const namespace = await kube.createNamespace();
  const body = { metadata: { name: 'svc-ca' }, data: { 'ca.crt': 'theirs' } };
  await kube.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, body);
  await createPod(namespace, podObject('app', { isProtected: true }));
  const [event] = await waitFor('the event', async () => {
    const events = await eventsOf(namespace, 'ForeignObject');
    return events.length > 0 && events;
  });
  assert.is(event?.regarding.kind, 'ConfigMap');
  assert.equal((await read(mapPath(namespace))).data, { 'ca.crt': 'theirs' });
  assert.ok(replica.hasForeignAuthorities?.(namespace));
  assert.not(replica.hasForeignAuthorities?.('default'));
});

test('new authorities reach every config map', async () => {
  const namespace = await kube.createNamespace();
  await createPod(namespace, podObject('app', { isProtected: true }));
  await waitFor('the config map', () => read(mapPath(namespace)));
  writeFileSync(caFile, 'half a file');
  await waitFor('the warning', () => replica.health.snapshot().degraded['ca-file']);
  writeFileSync(caFile, `${authority.cert}\n${next.cert}`);
  await waitFor('both', async () =>
    (await read(mapPath(namespace))).data['ca.crt'].includes(next.cert.trim()),
  );
  writeFileSync(storeCaFile, next.cert);
  await waitFor('that of the store', async () =>
    (await read(mapPath(namespace))).data['store-ca.crt'].includes(next.cert.trim()),
  );
  await waitFor('recovery', () => !replica.health.snapshot().degraded['ca-file']);
});

// an API server that has just begun denies everything, until it knows the roles
test('nothing failed for want of a permission so far', () => {
  const denied = replica.logged.filter(({ code }) => code === 'KUBE_DENIED');
  assert.equal(denied, []);
});

const configs = repetitions(60, 200);

test(`none of ${configs} ServiceConfigs is missed, though the API server goes away meanwhile`, async () => {
  const namespace = await kube.createNamespace();
  const names = Array.from({ length: configs }, (_, index) => `config-${index}`);
  const step = configs / 4;
  for (let from = 0; from < configs; from += step) {
    const some = names.slice(from, from + step);
    await Promise.all(some.map((name) => create(namespace, 'ServiceConfig', name, spec)));
    if (from === 2 * step) {
      await kube.pause();
      await kube.resume();
    }
  }
  await createPod(namespace, podObject('app', { labels: { app: 'shop' }, isProtected: true }));
  const collection = `${resources}/namespaces/${namespace}/serviceconfigs`;
  await waitFor('all of them', async () => {
    const { items } = await read(collection);
    return items.every(
      (config: Anything) =>
        config.status?.protectedPods === 1 && condition(config, 'Ready')?.status === 'True',
    );
  });
  await kube.must('DELETE', collection);
});

test('another replica goes on where the leader has stopped, without writing anything twice', async () => {
  const namespace = await kube.createNamespace();
  const path = configPath(namespace, 'shop');
  const follower = await startReplica(kube, token, { leading: false });
  try {
    await create(namespace, 'ServiceConfig', 'shop', spec);
    const before = await whenCondition(path, 'Ready', 'Enforced');
    await waitFor('the authorities', () => read(mapPath(namespace)));
    assert.equal(follower.writes, []);
    replica.leadership.lead(false);
    follower.leadership.lead(true);
    await createPod(namespace, podObject('app', { labels: { app: 'shop' } }));
    await waitFor('the count', async () => (await read(path)).status.matchedPods === 1);
    assert.is(statusWrites(follower, namespace), 1);
    const after = await read(path);
    assert.is(condition(after, 'Ready').lastTransitionTime, condition(before, 'Ready').lastTransitionTime);
    const written = replica.writes.length;
    follower.leadership.lead(false);
    replica.leadership.lead(true);
    await removePod(namespace, 'app');
    await waitFor('the count', async () => (await read(path)).status.matchedPods === 0);
    assert.is(statusWrites(follower, namespace), 1);
    const again = replica.writes.slice(written).filter(({ path: one }) => !one.startsWith(path));
    assert.equal(
      again.map(({ path: one }) => one),
      [],
    );
  } finally {
    replica.leadership.lead(true);
    await follower.stop();
  }
});

test.run();
