import type { FakeObject } from '../../cluster/fake-cluster.ts';
import { admitting, answering, changed, fixtureOf, without } from '../../cluster/fixture-of.ts';
import type { Fixtures } from '../../fixture.ts';

const passes = fixtureOf();

/** Variables of the operator's container. */
const withVariable = (name: string, value: string) => (deployment: FakeObject) => {
  const { template, ...spec } = deployment['spec'];
  const [container] = template.spec.containers;
  const env = [...container.env.filter((one: { name: string }) => one.name !== name), { name, value }];
  return {
    ...deployment,
    spec: {
      ...spec,
      template: { ...template, spec: { ...template.spec, containers: [{ ...container, env }] } },
    },
  };
};

const withEntries = (change: object) => (configuration: FakeObject) => ({
  ...configuration,
  webhooks: configuration['webhooks'].map((one: object) => ({ ...one, ...change })),
});

const changedEntries = (change: object) =>
  fixtureOf(changed('MutatingWebhookConfiguration', 'svc-operator', withEntries(change)));

/** Its container, with another start. */
const withContainer = (change: object) => (pod: FakeObject) => {
  const [container] = pod['spec'].containers;
  return { ...pod, spec: { ...pod['spec'], containers: [{ ...container, ...change }] } };
};

/** The token that wrapper and proxy show, for another audience. */
export const withAudience = (audience: string | undefined) => (pod: FakeObject) => {
  const serviceAccountToken = { path: 'token', ...(audience !== undefined && { audience }) };
  const token = { name: 'svc-wrapper-token', projected: { sources: [{ serviceAccountToken }] } };
  const others = pod['spec'].volumes.filter(({ name }: { name: string }) => name !== token.name);
  return { ...pod, spec: { ...pod['spec'], volumes: [...others, token] } };
};

const broken = (type: string) => (object: FakeObject) => ({
  ...object,
  status: {
    observedGeneration: 1,
    conditions: [{ type, status: 'False', reason: 'SpecInvalid', message: 'Its path is none.' }],
  },
});

export const fixtures: Fixtures = {
  'SVC-OPERATOR-001': { passes, fails: fixtureOf(without('Deployment', 'svc-operator')) },
  'SVC-OPERATOR-002': {
    passes,
    fails: fixtureOf(
      changed('Lease', 'svc-operator', ({ spec, ...lease }) => ({
        ...lease,
        spec: { ...spec, holderIdentity: '' },
      })),
    ),
  },
  'SVC-OPERATOR-003': {
    passes: fixtureOf(
      changed('Deployment', 'svc-operator', ({ spec, ...rest }) => ({
        ...rest,
        spec: { ...spec, replicas: 3 },
      })),
    ),
    fails: fixtureOf(),
  },
  'SVC-OPERATOR-004': { passes, fails: () => ({ ...passes(), version: '0.2.0' }) },
  'SVC-OPERATOR-005': {
    passes,
    fails: fixtureOf(without('CustomResourceDefinition', 'serviceconfigs.svc.io')),
  },
  'SVC-OPERATOR-006': {
    passes,
    fails: fixtureOf(changed('Deployment', 'svc-operator', withVariable('SVC_OPERATOR_DEVELOPMENT', 'true'))),
  },
  'SVC-OPERATOR-007': { passes, fails: changedEntries({ rules: [] }) },
  'SVC-OPERATOR-008': { passes, fails: changedEntries({ failurePolicy: 'Ignore' }) },
  'SVC-OPERATOR-009': {
    passes,
    fails: changedEntries({ objectSelector: { matchLabels: { wanted: 'true' } } }),
  },
  'SVC-OPERATOR-010': { passes, fails: changedEntries({ clientConfig: {} }) },
  'SVC-OPERATOR-011': {
    passes,
    fails: fixtureOf(
      answering('svc-system/svc-operator-0:8080/metrics', 'svc_certificate_not_after_seconds 1.6e+09'),
    ),
  },
  'SVC-OPERATOR-012': { passes, fails: fixtureOf(admitting((pod) => pod)) },
  'SVC-OPERATOR-013': { passes, fails: fixtureOf(changed('ServiceConfig', 'web', broken('Valid'))) },
  'SVC-OPERATOR-014': { passes, fails: fixtureOf(changed('SecretMapping', 'db', broken('Valid'))) },
  'SVC-OPERATOR-015': {
    passes,
    fails: fixtureOf(changed('Pod', 'web', withContainer({ command: ['/bin/app'] }))),
  },
  'SVC-OPERATOR-016': {
    passes,
    fails: fixtureOf(
      changed('Deployment', 'svc-operator', withVariable('SVC_WRAPPER_IMAGE', 'svc/wrapper:0.2.0')),
    ),
  },
  'SVC-OPERATOR-017': {
    passes,
    fails: fixtureOf(changed('Pod', 'web', withContainer({ envFrom: [{ secretRef: { name: 'db' } }] }))),
  },
  'SVC-OPERATOR-018': {
    passes,
    fails: fixtureOf(
      changed('Pod', 'web', withContainer({ env: [{ name: 'VAULT_SKIP_VERIFY', value: 'true' }] })),
    ),
  },
  'SVC-OPERATOR-019': { passes, fails: fixtureOf(admitting((pod) => pod)) },
  'SVC-OPERATOR-020': { passes, fails: fixtureOf(changed('Pod', 'web', withAudience(undefined))) },
  'SVC-OPERATOR-021': { passes, fails: fixtureOf(without('ConfigMap', 'store-ca')) },
  'SVC-OPERATOR-022': {
    passes,
    fails: fixtureOf(without('ValidatingAdmissionPolicyBinding', 'svc-operator')),
  },
  'SVC-OPERATOR-023': {
    passes,
    fails: fixtureOf(
      changed('Pod', 'web', withContainer({ env: [{ name: 'SVC_ORIGINAL_CMD', value: '/bin/app' }] })),
    ),
  },
};
