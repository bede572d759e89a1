import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chartValues } from '../../scripts/docs/reference/chart-values.ts';
import { componentMetrics } from '../../scripts/docs/reference/component-metrics.ts';
import { objectHeaders, otherMarks } from '../../scripts/docs/reference/kubernetes-names.ts';
import { commands, typed } from '../../scripts/docs/reference/manifest.ts';
import { shippedObjects } from '../../scripts/docs/reference/shipped-objects.ts';
import { annotationNames } from '../../src/cluster/injection/resolve/annotations.ts';
import { agentSettings } from '../../src/plugins/agent/settings.ts';
import { operatorSettings } from '../../src/plugins/operator/settings.ts';
import { proxySettings } from '../../src/plugins/proxy/settings.ts';
import { wrapperSettings } from '../../src/plugins/wrapper/settings.ts';
import type { Setting } from '../../src/runtime/settings/setting.ts';

/** Names and defaults that the specification promises, written down once more: they stay as they are. */
const test = suite('what the specification names');

const required = 'required';

const none = undefined;

function defaultsOf(settings: Readonly<Record<string, Setting<unknown>>>) {
  return new Map(
    Object.values(settings).map((one) => [one.variable, one.required ? required : one.fallback]),
  );
}

const has = (known: ReadonlyMap<string, unknown>, promised: Readonly<Record<string, unknown>>) =>
  assert.equal(Object.fromEntries(Object.keys(promised).map((name) => [name, known.get(name)])), promised);

test('variables of the wrapper with their defaults', () => {
  const known = defaultsOf(wrapperSettings);
  has(known, {
    VAULT_ADDR: required,
    VAULT_TOKEN: none,
    VAULT_TOKEN_FILE: none,
    VAULT_AUTH_ROLE: none,
    VAULT_AUTH_MOUNT_PATH: 'auth/kubernetes',
    VAULT_SKIP_VERIFY: 'false',
    SVC_SECRET_PATHS: required,
    SVC_ENV_MAP: none,
    SVC_ORIGINAL_ARGS: none,
    SVC_ROTATION: 'none',
    RENEWAL_INTERVAL: '5m',
    SVC_EBPF_AGENT_ADDR: none,
    SVC_POD_UID: none,
    HEALTH_ADDR: ':8081',
    SVC_REQUIRE_MLOCK: 'true',
    SVC_REQUIRE_MEMFD_SECRET: 'false',
    SVC_BROKER_TLS_CERT: none,
    SVC_BROKER_TLS_KEY: none,
    SVC_BROKER_TLS_CA: none,
  });
  // one may be told from what else is given, the other stands after -- as well
  for (const name of ['VAULT_AUTH_METHOD', 'SVC_ORIGINAL_CMD']) assert.ok(known.has(name), name);
  assert.is(wrapperSettings.secretPaths.flag, 'secrets');
});

test('ports', () => {
  has(defaultsOf(proxySettings), { SVC_PROXY_LISTEN: '127.0.0.1:8190', SVC_TRANSIT_KEY: 'svc' });
  has(defaultsOf(agentSettings), { SVC_AGENT_HEALTH: ':9090' });
  has(defaultsOf(operatorSettings), { SVC_OPERATOR_METRICS_ADDR: ':8080', SVC_OPERATOR_GRPC_ADDR: ':8199' });
});

test('annotations and the label', () => {
  for (const name of ['inject', 'vault-address', 'vault-role', 'secret-paths', 'env-map'])
    assert.ok(annotationNames.includes(`svc/${name}`), name);
  assert.ok('svc/protected' in otherMarks);
});

test('headers of objects', () => {
  for (const name of ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version'])
    assert.ok(`x-amz-meta-svc-${name}` in objectHeaders, name);
});

test('metrics of the operator', () => {
  const declared = componentMetrics['operator']?.() ?? [];
  has(new Map(declared.map(({ name, type }) => [name, type])), {
    controller_runtime_reconcile_total: 'counter',
    controller_runtime_reconcile_errors_total: 'counter',
    svc_webhook_injection_total: 'counter',
    svc_workload_protection_score: 'gauge',
  });
  const labels = new Map(declared.map((metric) => [metric.name, metric.labels]));
  has(labels, {
    controller_runtime_reconcile_total: ['controller', 'result'],
    svc_webhook_injection_total: ['status'],
  });
});

test('values of the chart with their defaults', () => {
  has(new Map(chartValues().map(({ path, fallback }) => [path, fallback])), {
    'operator.vaultAddress': '""',
    'operator.ha': 'false',
    'operator.replicaCount': 'null',
    'operator.leaderElect': 'null',
    'operator.webhook.certSecret': '""',
    'operator.webhook.failurePolicy': '"Fail"',
    enforceMode: 'true',
    reactiveKill: 'false',
    'operator.resources.requests.cpu': '"50m"',
    'operator.resources.limits.cpu': '"200m"',
    'operator.resources.requests.memory': '"64Mi"',
    'operator.resources.limits.memory': '"128Mi"',
    'ebpf.resources.requests.cpu': '"100m"',
    'ebpf.resources.limits.cpu': '"500m"',
    'ebpf.resources.requests.memory': '"128Mi"',
    'ebpf.resources.limits.memory': '"512Mi"',
  });
});

test('objects of the cluster, and the commands', () => {
  const objects = shippedObjects().map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  for (const one of ['Namespace/svc-system', 'Deployment/svc-operator', 'DaemonSet/svc-ebpf'])
    assert.ok(objects.includes(one), one);
  const lines = commands().map(typed);
  for (const one of ['svc netpol', 'svc validate', 'svc audit', 'svc run proxy'])
    assert.ok(lines.includes(one), one);
});

test.run();
