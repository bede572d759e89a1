import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InjectionPlan } from '../../../../src/cluster/injection/contract.ts';
import type { ServiceConfigSpec } from '../../../../src/cluster/resources/resources.ts';
import { ageKey } from '../../../support/age-keys.ts';
import { configNamed, enough, errorsOf, planOf, podWith } from './support.ts';

const test = suite('annotation, ServiceConfig, default');

interface Row {
  readonly annotation: readonly [string, string];
  readonly config: Partial<ServiceConfigSpec>;
  readonly of: (plan: InjectionPlan) => unknown;
  /** By the annotation, by the ServiceConfig, by neither. */
  readonly expected: readonly [unknown, unknown, unknown];
}

const address = 'https://config.example';
const rows: readonly Row[] = [
  {
    annotation: ['svc/vault-address', 'https://pod.example'],
    config: { vault: { address } },
    of: ({ vault }) => vault.address,
    expected: ['https://pod.example', address, 'https://default.example'],
  },
  {
    annotation: ['svc/vault-role', 'pod'],
    config: { vault: { role: 'config' } },
    of: ({ vault }) => vault.role,
    expected: ['pod', 'config', 'base'],
  },
  {
    annotation: ['svc/vault-auth-mount', 'auth/pod'],
    config: { vault: { authMount: 'auth/config' } },
    of: ({ vault }) => vault.authMount,
    expected: ['auth/pod', 'auth/config', undefined],
  },
  {
    annotation: ['svc/secret-paths', 'secret/pod'],
    config: { secretPaths: ['secret/config'] },
    of: ({ secrets }) => secrets.map(({ path }) => path),
    expected: [['secret/pod'], ['secret/config'], ['secret/base']],
  },
  {
    annotation: ['svc/rotation', 'restart'],
    config: { rotation: 'sighup' },
    of: ({ rotation }) => rotation,
    expected: ['restart', 'sighup', undefined],
  },
  {
    annotation: ['svc/renewal-interval', '1m'],
    config: { renewalInterval: '2m' },
    of: ({ renewalInterval }) => renewalInterval,
    expected: ['1m', '2m', undefined],
  },
  {
    annotation: ['svc/delivery', 'env'],
    config: { delivery: 'fd' },
    of: ({ delivery }) => delivery,
    expected: ['env', 'fd', undefined],
  },
  {
    annotation: ['svc/containers', 'pod'],
    config: { containers: ['config'] },
    of: ({ containers }) => containers,
    expected: [['pod'], ['config'], undefined],
  },
  {
    annotation: ['svc/s3-proxy', 'false'],
    config: { proxy: { enabled: true, role: 'p' } },
    of: ({ proxy }) => proxy,
    expected: [undefined, { enabled: true, role: 'p' }, undefined],
  },
];

/** What each row needs besides, in the lowest place that there is. */
const base = { vault: { role: 'base' }, secretPaths: ['secret/base'] };

for (const { annotation, config, of, expected } of rows)
  test(annotation[0], () => {
    const given = (spec: Partial<ServiceConfigSpec>) => ({
      defaults: { vaultAddress: 'https://default.example' },
      serviceConfigs: [configNamed('c', { ...base, ...spec, vault: { ...base.vault, ...spec.vault } })],
    });
    const annotated = podWith({ [annotation[0]]: annotation[1] });
    assert.equal(of(planOf(annotated, given(config))), expected[0]);
    assert.equal(of(planOf(podWith({}), given(config))), expected[1]);
    assert.equal(of(planOf(podWith({}), given({}))), expected[2]);
  });

test('members of the proxy, one by one', () => {
  const proxy = { enabled: true, role: 'c', upstream: 'https://c.example', credentialsSecret: 'keys' };
  const serviceConfigs = [configNamed('c', { ...base, proxy })];
  const pod = podWith({ ...enough, 'svc/proxy-role': 'pod', 'svc/proxy-transit-key': 'k' });
  assert.equal(planOf(pod, { serviceConfigs }).proxy, { ...proxy, role: 'pod', transitKey: 'k' });
});

test("a proxy's format and recovery keys come from either place, and both are judged", () => {
  const [one, two] = [ageKey(), ageKey()];
  const proxy = { enabled: true, format: 2, recoveryRecipients: [one.recipient] } as const;
  const serviceConfigs = [configNamed('c', { ...base, proxy })];
  assert.equal(planOf(podWith(enough), { serviceConfigs }).proxy, proxy);
  const both = `${one.recipient}, ${two.rawPublic.toString('base64')}`;
  const pod = podWith({ ...enough, 'svc/proxy-format': '1', 'svc/proxy-recovery-recipient': both });
  assert.equal(planOf(pod, { serviceConfigs }).proxy, {
    ...{ enabled: true, format: 1 },
    recoveryRecipients: [one.recipient, two.rawPublic.toString('base64')],
  });
  const twice = { ...proxy, recoveryRecipients: [one.recipient, one.rawPublic.toString('base64')] };
  const errors = errorsOf(podWith(enough), { serviceConfigs: [configNamed('c', { ...base, proxy: twice })] });
  assert.match(String(errors), /^ServiceConfig c, proxy\.recoveryRecipients: should be up to 8 public keys/);
});

test('a proxy that the annotation turns off needs none of its annotations', () => {
  const serviceConfigs = [configNamed('c', { ...base, proxy: { enabled: true } })];
  const pod = podWith({ ...enough, 'svc/s3-proxy': 'false', 'svc/proxy-role': 'pod' });
  assert.equal(errorsOf(pod, { serviceConfigs }), [
    'svc/proxy-role: has no effect without svc/s3-proxy: "true"',
  ]);
});

test("an operator's own address is judged, too", () => {
  const pod = podWith({ 'svc/vault-role': 'r', 'svc/secret-paths': 'secret/a' });
  assert.equal(errorsOf(pod, { defaults: { vaultAddress: 'http://vault.example' } }), [
    'SVC_OPERATOR_VAULT_ADDR: must be https:// (http:// is accepted for loopback addresses only)',
  ]);
});

test.run();
