import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unionOf, urlsOfPod } from '../../../src/cluster/egress/wanted.ts';
import type { InjectionPlan, Mutation } from '../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../src/cluster/injection/mutate/mutate-pod.ts';
import { type CreatedConfig, createSelection } from '../../../src/cluster/injection/protected-pods.ts';
import type { Pod } from '../../../src/cluster/kube/pod.ts';
import { createIntern, projectPod } from '../../../src/cluster/kube/project-objects.ts';
import type { EgressDestination } from '../../../src/cluster/resources/resources.ts';
import { container, defaults, planOf, pod, surroundingsOf } from '../injection/mutate/pods/case.ts';

const test = suite('where pods connect to');
const fallback = 'https://default.example';
const vault = 'https://vault.example:8200';
const token = '/var/run/secrets/eks.amazonaws.com/serviceaccount/token';
const role = { AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/shop', AWS_WEB_IDENTITY_TOKEN_FILE: token };

function mutated(env: Readonly<Record<string, string>>, plan: Partial<InjectionPlan>): Mutation {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  const complete = { name: '', pod: pod({ containers: [container({ env: variables })] }), plan };
  return mutatePod(complete.pod, planOf(complete), defaults, surroundingsOf(complete));
}

/** As the operator knows it. */
function injected(env: Readonly<Record<string, string>> = {}, plan: Partial<InjectionPlan> = {}): Pod {
  const mutation = mutated(env, plan);
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return known(mutation.pod);
}

function known(whole: Pod): Pod {
  const metadata = { ...whole.metadata, name: 'shop', uid: 'u', resourceVersion: '1' };
  return projectPod({ ...whole, metadata }, createIntern()).pod;
}

const urlsOf = (of: Pod, configs: readonly CreatedConfig[] = []) =>
  urlsOfPod(of, createSelection(configs), fallback);
const proxy = { enabled: true };
const withProxy = (env: Readonly<Record<string, string>>) => urlsOf(injected(env, { proxy }));

test('is what was written into their containers, whatever is annotated since', () => {
  const one = injected();
  const annotations = { 'svc/vault-address': 'https://evil.example', 'svc/s3-proxy': 'true' };
  const more = { ...annotations, 'svc/proxy-upstream': 'https://evil.example' };
  const annotated = { ...one, metadata: { ...one.metadata, annotations: more } };
  assert.equal(urlsOf(annotated), { vaults: [vault], stores: [] });
});

test('does not follow annotations of a pod without the wrapper either, which anybody may have labelled', () => {
  const annotations = { 'svc/vault-address': 'https://evil.example' };
  const bare = { metadata: { annotations, labels: { 'svc/protected': 'true' } }, spec: pod().spec };
  assert.equal(urlsOf(bare), { vaults: [fallback], stores: [] });
});

test('stays as it was when their ServiceConfig changes', () => {
  const spec = { selector: {}, vault: { address: 'https://new.example' } };
  assert.equal(urlsOf(injected(), [{ name: 'shop', created: '', spec }]).vaults, [vault]);
});

test('is known of a pod of which only an init container is wrapped', () => {
  const from = pod({ initContainers: [container({ name: 'migrate' })] });
  const complete = { name: '', pod: from, plan: { containers: ['migrate'] } };
  const mutation = mutatePod(from, planOf(complete), defaults, surroundingsOf(complete));
  assert.equal(mutation.kind === 'pod' && urlsOf(known(mutation.pod)).vaults, [vault]);
});

test('does not count what an ephemeral container says, which a running pod can be given', () => {
  const [wrapped = container()] = injected().spec.containers;
  const env = [...(wrapped.env ?? []), { name: 'VAULT_ADDR', value: 'https://evil.example' }];
  const one = injected();
  const debugged = { ...one, spec: { ...one.spec, ephemeralContainers: [{ ...wrapped, env }] } };
  assert.equal(urlsOf(debugged).vaults, [vault]);
});

test('takes in the upstream of the proxy', () => {
  const { stores } = urlsOf(injected({}, { proxy: { ...proxy, upstream: 'https://s3.example' } }));
  assert.equal(stores, ['https://s3.example']);
});

for (const [env, host] of [
  [{ AWS_REGION: 'eu-central-1' }, 's3.eu-central-1.amazonaws.com'],
  [{ AWS_DEFAULT_REGION: 'cn-north-1' }, 's3.cn-north-1.amazonaws.com.cn'],
  [{ AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'cn-north-1' }, 's3.eu-west-1.amazonaws.com'],
] as const) {
  test(`without an upstream, takes in ${host} for ${JSON.stringify(env)}`, () => {
    assert.equal(withProxy(env).stores, [`https://${host}/`]);
  });
}

test('opens nothing for what is no region', () => {
  assert.equal(withProxy({ AWS_REGION: 'x.evil.example/' }).stores, []);
});

for (const [env, host] of [
  [{ AWS_REGION: 'eu-central-1' }, 'sts.eu-central-1.amazonaws.com'],
  [{ AWS_REGION: 'cn-north-1' }, 'sts.cn-north-1.amazonaws.com.cn'],
  // the SDK does not read the default region here
  [{ AWS_DEFAULT_REGION: 'eu-west-1' }, 'sts.us-east-1.amazonaws.com'],
] as const) {
  test(`with a web identity, takes in ${host} for ${JSON.stringify(env)}`, () => {
    const { stores, credentials } = withProxy({ ...env, ...role });
    assert.is(stores[1], `https://${host}/`);
    assert.is(credentials, 'role');
  });
}

const region = { AWS_REGION: 'eu-central-1' };
const agent = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' };
const secret: Partial<InjectionPlan> = { proxy: { ...proxy, credentialsSecret: 'store' } };

for (const [env, plan, address] of [
  [region, { proxy }, '169.254.169.254'],
  [{ ...region, ...agent }, { proxy }, '169.254.170.23'],
  [{ ...region, ...role, ...agent }, { proxy }, undefined],
  [{ ...region, ...agent }, secret, undefined],
  [{}, {}, undefined],
] as const) {
  test(`${address ?? 'nothing'} is warned of for ${Object.keys(env)} and ${JSON.stringify(plan)}`, () => {
    const urls = [urlsOf(injected(env, plan))];
    const warningsWith = (...egress: EgressDestination[]) =>
      unionOf(urls, [{ spec: { selector: {}, egress } }]).warnings;
    const mutation = mutated(env, plan);
    const said =
      mutation.kind === 'pod' ? mutation.warnings.filter((text) => text.includes('svc-proxy')) : [];
    if (address === undefined) {
      assert.equal([...warningsWith(), ...said], []);
      return;
    }
    assert.match(warningsWith().join(), `name ${address}/32 port 80 in spec.egress`);
    assert.match(said.join(), `names ${address}/32 port 80`);
    assert.ok(said.every((text) => `svc: ${text}`.length <= 250));
    const others = [{ cidr: `${address}/32` }, { cidr: `${address}/32`, port: 80, protocol: 'UDP' as const }];
    assert.is(warningsWith(...others).length, 1);
    assert.equal(warningsWith({ cidr: '169.254.0.0/16', port: 80 }), []);
  });
}

test.run();
