import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient, KubeRequest } from '../../../../../src/cluster/kube/client.ts';
import { tokenAudience } from '../../../../../src/plugins/validate/areas/operator/pods-wrapped.ts';
import { changed, fixtureOf, without } from '../../cluster/fixture-of.ts';
import { levels, verdictOf } from '../../cluster/verdict-of.ts';
import type { Fixture } from '../../fixture.ts';
import { withAudience } from './fixtures.ts';

const test = suite('tokens that open the API server too');
const id = 'SVC-OPERATOR-020';
const audience = (name: string | undefined) => changed('Pod', 'web', withAudience(name));

async function messages(...changes: readonly ReturnType<typeof changed>[]): Promise<readonly string[]> {
  const found = await verdictOf(id, fixtureOf(...changes));
  return found.state === 'failed' ? found.failures.map(({ message }) => message) : [found.state];
}

test('are those without an audience, a warning that names the containers', async () => {
  assert.equal(await levels(id, fixtureOf(audience(undefined))), ['warning']);
  assert.equal(await messages(audience(undefined)), [
    'The API server accepts the token of: main, svc-proxy.',
  ]);
  assert.equal(await messages(), ['passed']);
});

test('are those that a pod has by itself', async () => {
  const unmounted = changed('Pod', 'web', (pod) => {
    const [main] = pod['spec'].containers;
    const mounts = main.volumeMounts.filter(({ name }: { name: string }) => name !== 'svc-wrapper-token');
    return { ...pod, spec: { ...pod['spec'], containers: [{ ...main, volumeMounts: mounts }] } };
  });
  assert.equal(await messages(unmounted), ['The API server accepts the token of: main.']);
});

test("are those of the API server's own audience, by whatever name", async () => {
  for (const name of ['https://kubernetes.default.svc.cluster.local', 'https://kubernetes.default.svc/'])
    assert.is((await verdictOf(id, fixtureOf(audience(name)))).state, 'failed', name);
  const issuer = 'https://oidc.example/cluster-1';
  assert.equal(await messages(audience(issuer)), ['passed']);
  assert.equal(await levels(id, issuedBy(issuer, fixtureOf(audience(issuer)))), ['warning']);
});

/** As the API server tells who issues its tokens. */
function issuedBy(issuer: string, fixture: () => Fixture): () => Fixture {
  const path = '/.well-known/openid-configuration';
  const client = async () => {
    const cluster = (await fixture().cluster?.()) as KubeClient;
    const request: KubeClient['request'] = async <T>(one: KubeRequest) =>
      one.path === path ? ({ issuer } as T) : cluster.request<T>(one);
    return { ...cluster, request };
  };
  return () => ({ ...fixture(), cluster: client });
}

test('need a pod that shows one', async () => {
  assert.equal(await messages(without('Pod', 'web')), ['skipped']);
});

test('are done away with by the role first and the value then', () => {
  assert.match(tokenAudience.fix, /auth role.*`audience`.*Then set operator\.tokenAudience/s);
});

test.run();
