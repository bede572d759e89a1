import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { reportName } from '../../../src/cluster/resources/protection-report.ts';
import { apiVersion } from '../../../src/cluster/resources/resources.ts';
import { type Kubernetes, startKubernetes } from '../../support/kubernetes.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  fullReportStatus,
  fullSecretMapping,
  fullSecretMappingStatus,
  fullServiceConfig,
  fullServiceConfigStatus,
} from './examples.ts';
import { refusedSecretMappings, refusedServiceConfigs } from './refused.ts';

const test = suite<{ cluster: Kubernetes; namespace: string }>('custom resources at an API server');
const folder = new URL('../../../manifests/chart/templates/crds/', import.meta.url);
const templates = readdirSync(folder).map((name) => parse(readFileSync(new URL(name, folder), 'utf8')));

interface NamedCondition {
  readonly type: string;
  readonly status: string;
}

test.before(async (context) => {
  context.cluster = await startKubernetes();
  context.namespace = await context.cluster.createNamespace();
  await context.cluster.apply(...templates);
  await waitFor('the custom resources', async () => {
    const all = await Promise.all(names().map((name) => conditionsOf(context.cluster, name)));
    return all.every((one) => one.some(({ type, status }) => type === 'Established' && status === 'True'));
  });
});

test.after(({ cluster }) => cluster?.stop());

test('their schemas are structural, and their names are accepted', async ({ cluster }) => {
  assert.is(templates.length, 3);
  for (const name of names()) {
    const conditions = await conditionsOf(cluster, name);
    const told = conditions.map(({ type, status }) => `${type}=${status}`).sort();
    assert.equal(told, ['Established=True', 'NamesAccepted=True'], name);
  }
});

test('full objects come back as they were given', async ({ cluster, namespace }) => {
  const full = [
    ['ServiceConfig', 'serviceconfigs', 'shop', fullServiceConfig, fullServiceConfigStatus],
    ['SecretMapping', 'secretmappings', 'database', fullSecretMapping, fullSecretMappingStatus],
    ['ProtectionReport', 'protectionreports', reportName, undefined, fullReportStatus],
  ] as const;
  for (const [kind, plural, name, spec, status] of full) {
    const path = pathOf(namespace, plural);
    const object = { apiVersion, kind, metadata: { name }, ...(spec === undefined ? {} : { spec }) };
    await cluster.must('POST', `${path}?fieldValidation=Strict`, object);
    await cluster.must('PATCH', `${path}/${name}/status?fieldValidation=Strict`, { status });
    const stored = await cluster.must('GET', `${path}/${name}`);
    assert.equal(stored.spec, spec, kind);
    assert.equal(stored.status, status, kind);
  }
});

test('the least that each needs', async ({ cluster, namespace }) => {
  await create(cluster, namespace, 'ServiceConfig', { selector: {} });
  for (const address of ['http://127.0.0.1:8200', 'http://[::1]:8200/x', 'HTTPS://vault'])
    await create(cluster, namespace, 'ServiceConfig', { selector: {}, vault: { address } });
  await create(cluster, namespace, 'SecretMapping', { secrets: [{ path: 'secret/db' }] });
});

test('lists and maps may be as long as they may', async ({ cluster, namespace }) => {
  const indexes = Array.from({ length: 64 }, (_, index) => index);
  const secretPaths = indexes.map((index) => `secret/${index}`);
  const variables = Object.fromEntries(indexes.map((index) => [`field${index}`, `VARIABLE_${index}`]));
  const envMap = secretPaths.slice(0, 32).map((path) => ({ path, variables }));
  await create(cluster, namespace, 'ServiceConfig', { selector: {}, secretPaths, envMap });
});

test('a wrong ServiceConfig is refused with what is wrong', async ({ cluster, namespace }) => {
  for (const [spec, message] of refusedServiceConfigs) {
    const text = await refusal(cluster, namespace, 'ServiceConfig', { selector: {}, ...spec });
    assert.match(text, message, `${JSON.stringify(spec).slice(0, 200)}: ${text}`);
  }
});

test('a wrong SecretMapping is refused with what is wrong', async ({ cluster, namespace }) => {
  for (const [spec, message] of refusedSecretMappings)
    assert.match(await refusal(cluster, namespace, 'SecretMapping', spec), message);
});

test('a namespace has one report', async ({ cluster, namespace }) => {
  const report = { apiVersion, kind: 'ProtectionReport', metadata: { name: 'other' } };
  const answer = await cluster.request('POST', pathOf(namespace, 'protectionreports'), report);
  assert.is(answer.status, 422);
  assert.match(answer.text, 'a namespace has one report, named svc');
});

test('kubectl prints their columns', async ({ cluster, namespace }) => {
  const shown = async (...args: string[]) => {
    const { stdout } = await cluster.kubectl(['get', '-n', namespace, ...args]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
  };
  const [heads, report] = await shown('protectionreports');
  assert.equal(heads, ['NAME', 'WORKLOADS', 'PROTECTED', 'LOWEST', 'AGE']);
  assert.equal(report?.slice(0, 4), ['svc', '2', '1', '45']);
  const [names, config] = await shown('sconf', 'shop', '-o', 'wide');
  assert.equal(names, ['NAME', 'READY', 'VALID', 'PODS', 'PROTECTED', 'ROLE', 'VAULT', 'AGE']);
  assert.equal(
    [config?.[1], ...(config?.slice(-5, -1) ?? [])],
    [...['True', '3', '2', 'shop', 'https://vault.example:8200']],
  );
  assert.equal((await shown('smap', 'database'))[1]?.slice(0, 3), ['database', 'True', '2']);
});

test('the category lists them, and `get svc` still means Services', async ({ cluster, namespace }) => {
  const { stdout } = await cluster.kubectl(['get', 'protection', '-n', namespace, '-o', 'name']);
  assert.match(stdout, 'serviceconfig.svc.io/shop');
  assert.match(stdout, 'protectionreport.svc.io/svc');
  const services = await cluster.kubectl(['get', 'svc', '-n', namespace, '-o', 'name']);
  assert.is(services.stdout, '');
});

const names = () => templates.map(({ metadata }) => metadata.name as string);

async function conditionsOf(cluster: Kubernetes, name: string): Promise<readonly NamedCondition[]> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  return (await cluster.must('GET', path)).status?.conditions ?? [];
}

const pathOf = (namespace: string, plural: string) => `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;

const request = (cluster: Kubernetes, namespace: string, kind: string, spec: object) =>
  cluster.request('POST', `${pathOf(namespace, `${kind.toLowerCase()}s`)}?fieldValidation=Strict`, {
    ...{ apiVersion, kind, metadata: { generateName: 'test-' }, spec },
  });

async function create(cluster: Kubernetes, namespace: string, kind: string, spec: object): Promise<void> {
  const { status, text } = await request(cluster, namespace, kind, spec);
  assert.is(status, 201, text);
}

/** What the API server says, unescaped. */
async function refusal(cluster: Kubernetes, namespace: string, kind: string, spec: object): Promise<string> {
  const { status, text, json } = await request(cluster, namespace, kind, spec);
  assert.ok(status === 422 || status === 400, `${status} for ${JSON.stringify(spec).slice(0, 200)}: ${text}`);
  return (json as { message: string }).message;
}

test.run();
