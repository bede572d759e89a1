import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import { planOf, podWith } from '../resolve/support.ts';
import { defaults, surroundingsOf } from './pods/case.ts';

const test = suite('a pod with annotations, as it runs');

const all = {
  'svc/inject': 'true',
  'svc/vault-address': 'https://other.example:8200',
  'svc/vault-role': 'shop',
  'svc/vault-auth-mount': 'auth/cluster-1',
  'svc/secret-paths': 'secret/shop/db,secret/shop/mail',
  'svc/env-map': 'password=DB_PASSWORD;user=MAIL_USER',
  'svc/rotation': 'sighup',
  'svc/renewal-interval': '2m',
  'svc/delivery': 'fd',
  'svc/command': '["/bin/shop","--port","80"]',
  'svc/s3-proxy': 'true',
  'svc/proxy-role': 'shop-proxy',
  'svc/proxy-upstream': 'https://s3.example',
  'svc/proxy-transit-key': 'photos',
};

const injected = (
  level: 'privileged' | 'baseline' | 'restricted' = 'privileged',
  annotations: Readonly<Record<string, string>> = all,
): Pod => {
  const pod = podWith(annotations, {}, { securityContext: { runAsUser: 0 } });
  const mutation = mutatePod(pod, planOf(pod), defaults, surroundingsOf({ name: '', pod, level }));
  if (mutation.kind !== 'pod') throw new Error(mutation.errors.join('; '));
  return mutation.pod;
};

function containerOf({ spec }: Pod, name: string): Container {
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

const setTo = ({ env = [] }: Container, name: string) => env.find((one) => one.name === name)?.value;

function hasVariables(container: Container, wanted: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(wanted)) assert.is(setTo(container, name), value, name);
}

test('what annotations say reaches the wrapper in its variables', () => {
  hasVariables(containerOf(injected(), 'shop'), {
    VAULT_ADDR: 'https://other.example:8200',
    VAULT_AUTH_METHOD: 'kubernetes',
    VAULT_AUTH_ROLE: 'shop',
    VAULT_AUTH_MOUNT_PATH: 'auth/cluster-1',
    SVC_SECRET_PATHS: 'secret/shop/db,secret/shop/mail',
    SVC_ENV_MAP: 'password=DB_PASSWORD;user=MAIL_USER',
    SVC_ROTATION: 'sighup',
    RENEWAL_INTERVAL: '2m',
    SVC_DELIVERY: 'fd',
    SVC_ORIGINAL_CMD: '/bin/shop',
    SVC_ORIGINAL_ARGS: '--port,80',
  });
});

test('and the proxy in its own, with a role of its own', () => {
  const pod = injected();
  hasVariables(containerOf(pod, 'svc-proxy'), {
    VAULT_ADDR: 'https://other.example:8200',
    VAULT_AUTH_ROLE: 'shop-proxy',
    SVC_PROXY_UPSTREAM: 'https://s3.example',
    SVC_TRANSIT_KEY: 'photos',
    SVC_PROXY_LISTEN: '127.0.0.1:8190',
  });
  assert.is(setTo(containerOf(pod, 'shop'), 'AWS_ENDPOINT_URL_S3'), 'http://127.0.0.1:8190');
  assert.equal(pod.metadata.labels, { 'svc/protected': 'true', 'svc/proxy': 'true' });
});

test('the proxy has the requests and limits that the specification recommends', () => {
  assert.equal(containerOf(injected(), 'svc-proxy').resources, {
    requests: { cpu: '50m', memory: '32Mi' },
    limits: { cpu: '200m', memory: '128Mi' },
  });
});

test('the certificate of the secrets server is verified, and a private authority mounted', () => {
  const { spec } = injected();
  for (const name of ['shop', 'svc-proxy']) {
    const container = containerOf({ metadata: {}, spec }, name);
    assert.is(setTo(container, 'VAULT_SKIP_VERIFY'), 'false');
    const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === '/svc/certs');
    assert.equal(mount, { name: 'svc-ca', mountPath: '/svc/certs', readOnly: true }, name);
  }
  assert.equal(
    spec.volumes?.find(({ name }) => name === 'svc-ca'),
    { name: 'svc-ca', configMap: { name: 'svc-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  );
});

test('IPC_LOCK is added and the agent named, where the namespace lets it be', () => {
  const container = containerOf(injected('privileged'), 'shop');
  assert.equal(container.securityContext?.capabilities?.add, ['IPC_LOCK']);
  assert.is(setTo(container, 'SVC_EBPF_AGENT_ADDR'), 'unix:///run/svc/agent.sock');
  assert.is(setTo(container, 'SVC_REQUIRE_MLOCK'), undefined);
  for (const level of ['baseline', 'restricted'] as const) {
    const stricter = containerOf(injected(level), 'shop');
    assert.is(stricter.securityContext?.capabilities, undefined);
    assert.is(setTo(stricter, 'SVC_EBPF_AGENT_ADDR'), undefined);
    assert.is(setTo(stricter, 'SVC_REQUIRE_MLOCK'), 'false');
  }
});

test('the pod’s UID comes from the API server', () => {
  const { env = [] } = containerOf(injected(), 'shop');
  assert.is(env.find(({ name }) => name === 'SVC_POD_UID')?.valueFrom?.fieldRef?.fieldPath, 'metadata.uid');
});

test('nothing that is added comes from a Secret', () => {
  const { spec } = injected();
  const added = JSON.stringify([spec.initContainers, spec.containers, spec.volumes]);
  assert.not.match(added, /secretKeyRef|secretRef|secretName/);
});

test.run();
