import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient } from '../../../../src/cluster/kube/client.ts';
import { Connection } from '../../../../src/plugins/agent/operator/connection.ts';
import { toData } from '../../../../src/plugins/operator/certificates/authority-store.ts';
import type { OperatorCertificates } from '../../../../src/plugins/operator/certificates/follow-certificates.ts';
import { renewed } from '../../../../src/plugins/operator/certificates/keeper.ts';
import { usualLifetimes } from '../../../../src/plugins/operator/certificates/verdict.ts';
import { certificatesIn, isIssuedBy, readCertificate } from '../../../../src/runtime/net/certificates.ts';
import { createAuthority, issueCertificate } from '../../../../src/runtime/net/issue-certificate.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { startOperator } from '../../../support/operator-channel.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { operatorClient } from './support/operator-account.ts';
import {
  type AdmittingServer,
  type OperatorReplica,
  type ReplicaOptions,
  startAdmitting,
  startOperatorReplica,
} from './support/operator-replica.ts';

interface Context {
  cluster: Kubernetes;
  namespace: string;
  client: KubeClient;
  replicas: OperatorReplica[];
  webhooks: AdmittingServer[];
  /** A webhook that admits everything, until the test ends. */
  admitting(certificates: OperatorCertificates): Promise<AdmittingServer>;
  /** The service is called `localhost`, so that the API server reaches it as it calls it. */
  start(options?: Partial<ReplicaOptions>): OperatorReplica;
}

export const idle = true;

const test = suite<Context>('certificates at a real API server');
export const timeout = 240_000;
const dayMs = 86_400_000;
const service = 'localhost';
const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

test.before(async (context) => {
  context.cluster = await startKubernetes();
});

test.before.each(async (context) => {
  const { cluster } = context;
  const namespace = await cluster.createNamespace();
  const client = await operatorClient(cluster, namespace);
  const replicas: OperatorReplica[] = [];
  context.webhooks = [];
  Object.assign(context, { namespace, client, replicas });
  context.admitting = async (certificates) => {
    const started = await startAdmitting(certificates);
    context.webhooks.push(started);
    return started;
  };
  context.start = (options = {}) => {
    const replica = startOperatorReplica({ client, namespace, serviceName: service, ...options });
    replicas.push(replica);
    return replica;
  };
  await configure(context);
});

test.after.each(async ({ cluster, replicas, webhooks }) => {
  for (const one of webhooks) one.close();
  await Promise.all(replicas.map((replica) => replica.stop()));
  await cluster.request('DELETE', `${configurations}/${service}`);
});

test.after(({ cluster }) => cluster?.stop());

async function configure(
  { cluster, namespace }: Context,
  { url = 'https://localhost:1/mutate', failurePolicy = 'Fail' } = {},
): Promise<void> {
  const common = { failurePolicy, sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 10 };
  const webhook = (name: string, resource: string) => ({
    ...{ name, ...common, clientConfig: { url } },
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] }],
  });
  await cluster.request('DELETE', `${configurations}/${service}`);
  const webhooks = [webhook('one.svc.io', 'configmaps'), webhook('two.svc.io', 'configmaps')];
  await cluster.must('POST', configurations, { metadata: { name: service }, webhooks });
}

async function bundles({ cluster }: Context): Promise<string[]> {
  const { webhooks } = await cluster.must('GET', `${configurations}/${service}`);
  return webhooks.map((webhook: { clientConfig: { caBundle?: string } }) =>
    Buffer.from(webhook.clientConfig.caBundle ?? '', 'base64').toString(),
  );
}

async function secret({ cluster, namespace }: Context, name: string): Promise<Record<string, string>> {
  const { data } = await cluster.must('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`);
  const entries = Object.entries(data as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** Why the API server refused an object that the webhook is asked about; undefined where it verified the webhook and that let it pass. */
async function refusal({ cluster, namespace }: Context): Promise<string | undefined> {
  const body = { metadata: { generateName: 'test-' } };
  const { status, text } = await cluster.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, body);
  return status === 201 ? undefined : text;
}

const isAdmitted = async (context: Context) => (await refusal(context)) === undefined;

const details = ({ replicas }: Context) => ({ details: () => replicas.flatMap(({ log }) => log).join('\n') });
/** While the API server does not know the configuration yet, it admits without a webhook. */
function admitsThrough(context: Context, admitting: AdmittingServer): Promise<boolean> {
  const works = async () => (await isAdmitted(context)) && admitting.calls > 0;
  return waitFor('the webhook', works, details(context));
}

const sharedName = `${service}-tls`;
const server = (replica: OperatorReplica) => replica.certificates?.current().cert;

test('makes certificates that the API server verifies the webhook by, and keeps them where other replicas find them', async (context) => {
  const replica = context.start();
  const certificates = await replica.started;
  assert.ok(replica.ready());
  const admitting = await context.admitting(certificates);
  await configure(context, { url: admitting.url });
  const { ca, key } = certificates.current();
  await waitFor(
    'the bundle',
    async () => (await bundles(context)).every((one) => one === ca),
    details(context),
  );
  await admitsThrough(context, admitting);
  const calls = admitting.calls;
  assert.ok(await isAdmitted(context));
  assert.is(admitting.calls - calls, 2);
  assert.is(certificates.clientAuthorities(), ca);
  await waitFor('the agents’ files', () => secret(context, 'svc-agent-tls'));
  assert.is((await secret(context, sharedName))['tls.key'], key);
  assert.match(await replica.metrics(), /svc_certificate_not_after_seconds \d{10}/);
  await waitFor('the metric', async () => /svc_webhook_ca_bundle_written 1/.test(await replica.metrics()));
  assert.not.match(replica.log.join(), key.slice(40, 80));
});

test('shares one certificate among replicas, whoever leads', async (context) => {
  const three = [context.start(), context.start(), context.start()];
  const all = await Promise.all(three.map(({ started }) => started));
  assert.is(new Set(all.map((one) => one.current().cert)).size, 1);
  const leader = three.find(({ elector }) => elector.leading);
  await leader?.stop();
  const rest = three.filter((one) => one !== leader);
  await waitFor('another leader', () => rest.find(({ elector }) => elector.leading));
  await waitFor('the agents’ files', () => secret(context, 'svc-agent-tls'), details(context));
  const { namespace, cluster } = context;
  await cluster.must('DELETE', `/api/v1/namespaces/${namespace}/secrets/svc-agent-tls`);
  await waitFor('the agents’ files', () => secret(context, 'svc-agent-tls'), details(context));
  assert.is((await secret(context, sharedName))['tls.crt'], all[0]?.current().cert);
});

test('replaces what is corrupt, foreign or gone, on all replicas and without an end', async (context) => {
  const three = [context.start(), context.start(), context.start()];
  await Promise.all(three.map(({ started }) => started));
  const { namespace, cluster } = context;
  const path = `/api/v1/namespaces/${namespace}/secrets/${sharedName}`;
  const harm: (() => Promise<unknown>)[] = [
    () => cluster.must('PATCH', path, { data: { 'tls.crt': 'Zm9v', 'ca.key': null } }),
    () => cluster.must('PATCH', path, { data: null }),
    () => cluster.must('DELETE', path),
    () => cluster.must('PATCH', path, { data: { 'tls.key': Buffer.from([255, 0, 1]).toString('base64') } }),
  ];
  for (const [index, harmed] of harm.entries()) {
    const before = server(three[0] as OperatorReplica);
    await harmed();
    const what = `one certificate after harm ${index}`;
    const common = async () => {
      const stored = (await secret(context, sharedName))['tls.crt'];
      return stored !== before && three.every((one) => server(one) === stored);
    };
    await waitFor(what, common, details(context));
    const { ca } = (three[0] as OperatorReplica).certificates?.current() ?? { ca: '' };
    await waitFor(
      `the bundle after harm ${index}`,
      async () => (await bundles(context))[0] === ca,
      details(context),
    );
  }
});

test('rolls over to a new authority without an admission that fails', async (context) => {
  const { namespace, cluster, start } = context;
  const long = Date.now() - 250 * dayMs;
  const lifetimes = usualLifetimes;
  const nothing = { authority: undefined, previous: undefined, server: undefined };
  const dnsNames = [service, `${service}-agents`].flatMap((name) => [
    ...[`${name}.${namespace}.svc`, `${name}.${namespace}`, name],
  ]);
  const facts = { lifetimes, dnsNames, settled: true };
  const { state: old } = await renewed(nothing, { ...facts, now: long });
  const server1 = await issueCertificate(old.authority, {
    ...{ commonName: 'old', dnsNames, days: 30, usage: 'server' },
  });
  const stringData = toData({ ...old, server: server1 });
  await cluster.must('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    ...{ metadata: { name: sharedName }, stringData },
  });
  const three = [1, 2, 3].map(() => start({ lifetimes: { settleMs: 2_000 } }));
  const [first] = await Promise.all(three.map(({ started }) => started));
  if (first === undefined) throw new Error('there is none');
  assert.is(first.current().cert, server1.cert);
  const admitting = await context.admitting(first);
  await configure(context, { url: admitting.url });
  await admitsThrough(context, admitting);
  const refusals: (string | undefined)[] = [];
  await waitFor(
    'the certificate of the new authority everywhere',
    async () => {
      refusals.push(await refusal(context));
      return three.every((one) => ![undefined, server1.cert].includes(server(one)));
    },
    details(context),
  );
  for (let round = 0; round < 20; round++) refusals.push(await refusal(context));
  assert.ok(refusals.length > 20);
  assert.equal(refusals.filter(Boolean), []);
  const [newest, former] = certificatesIn(first.current().ca).map(readCertificate);
  assert.ok(newest && isIssuedBy(readCertificate(first.current().cert), newest));
  assert.is(former?.fingerprint256, readCertificate(old.authority.cert).fingerprint256);
  assert.equal(new Set(await bundles(context)), new Set([first.current().ca]));
  const agents = await secret(context, 'svc-agent-tls');
  assert.is(agents['ca.crt'], first.current().ca);
});

test('gives agents files by which they and the operator know each other', async (context) => {
  const replica = context.start();
  const certificates = await replica.started;
  const files = await waitFor('the agents’ files', () => secret(context, 'svc-agent-tls'), details(context));
  const operator = await startOperator();
  operator.down();
  const { cert, key } = certificates.current();
  await operator.up({ server: { cert, key }, clientCa: certificates.clientAuthorities() });
  operator.writeTls({
    cert: files['tls.crt'] as string,
    key: files['tls.key'] as string,
    ca: files['ca.crt'] as string,
  });
  const connection = new Connection({
    address: { host: `${service}-agents.${context.namespace}.svc`, port: operator.address.port },
    ...{ tls: operator.tls, timeoutMs: 10_000, signal: new AbortController().signal },
    endpointsOf: async () => [`ipv4:127.0.0.1:${operator.address.port}`],
  });
  await connection.report({ node: 'node-1', instance: 'i' });
  assert.is(operator.reports.length, 1);
  connection.close();
  await operator.stop();
});

test('serves the certificate of a folder, renews it when kubelet does, and keeps the agents’ own', async (context) => {
  const folder = temporaryFolder('cert-dir');
  const host = `${service}.${context.namespace}.svc`;
  const authority = await createAuthority({ commonName: 'company', days: 100 });
  const issue = (dnsNames: string[]) =>
    issueCertificate(authority, { commonName: 'x', dnsNames, days: 20, usage: 'server' });
  const put = (version: string, { cert, key }: { cert: string; key: string }) => {
    mkdirSync(join(folder.path, version));
    writeFileSync(join(folder.path, version, 'tls.crt'), cert + authority.cert);
    writeFileSync(join(folder.path, version, 'tls.key'), key);
    symlinkSync(version, join(folder.path, '..new'));
    renameSync(join(folder.path, '..new'), join(folder.path, '..data'));
  };
  const first = await issue([host]);
  put('..1', first);
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(folder.path, name));
  const replica = context.start({ certDir: folder.path });
  const certificates = await replica.started;
  assert.is(certificates.current().ca, authority.cert);
  assert.is.not(certificates.clientAuthorities(), authority.cert);
  await waitFor('the bundle', async () => (await bundles(context))[0] === authority.cert, details(context));
  const files = await waitFor('the agents’ files', () => secret(context, 'svc-agent-tls'));
  assert.is(files['ca.crt'], authority.cert);
  put('..2', { ...(await issue([host])), key: first.key });
  await waitFor('the complaint', () => 'certificate files' in replica.degraded(), details(context));
  assert.match(replica.log.join('\n'), /certificates\.files\.unusable .*does not belong/);
  assert.is(certificates.current().key, first.key);
  const next = await issue([host]);
  put('..3', next);
  await waitFor('the renewal', () => certificates.current().key === next.key, details(context));
  await waitFor('its recovery', () => !('certificate files' in replica.degraded()));
  await folder.remove();
});

test('waits for a configuration that is not there, and says when pods may pass unprotected', async (context) => {
  await context.cluster.must('DELETE', `${configurations}/${service}`);
  const replica = context.start();
  const certificates = await replica.started;
  await waitFor('the complaint', () => 'webhook bundle' in replica.degraded());
  await configure(context, { failurePolicy: 'Ignore' });
  const { ca } = certificates.current();
  await waitFor(
    'the bundle',
    async () => (await bundles(context)).every((one) => one === ca),
    details(context),
  );
  await waitFor('its recovery', () => !('webhook bundle' in replica.degraded()), details(context));
  assert.match(replica.degraded()['webhook failure policy'] ?? '', /one\.svc\.io, two\.svc\.io/);
  assert.match(replica.log.join('\n'), /webhook\.fails\.open/);
  assert.match(await replica.metrics(), /svc_webhook_fail_open 2/);
  const { webhooks } = await context.cluster.must('GET', `${configurations}/${service}`);
  assert.is(webhooks[0].failurePolicy, 'Ignore');
  await configure(context);
  await waitFor('no complaint', () => Object.keys(replica.degraded()).length === 0, details(context));
});

test('keeps serving while the API server is away, and starts once it is there', async (context) => {
  const { cluster, start } = context;
  const replica = start();
  const certificates = await replica.started;
  await cluster.pause();
  const late = start();
  await sleep(1_000);
  assert.is(late.certificates, undefined);
  assert.not(late.ready());
  assert.ok(certificates.current().cert);
  const hopeless = start();
  await hopeless.stop();
  const reason = await hopeless.started.then(() => '', String);
  assert.match(reason, /the test stops it/);
  await cluster.resume();
  assert.is((await late.started).current().cert, certificates.current().cert);
});

test.run();
