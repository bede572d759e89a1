import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ImageCommand, InjectionDefaults } from '../../../../src/cluster/injection/contract.ts';
import { resolvedPath } from '../../../../src/cluster/injection/mutate/additions.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import { maxAnswerMemory } from '../../../../src/plugins/operator/caller-memory.ts';
import { type DecideDeps, type Decision, decide } from '../../../../src/plugins/operator/webhook/decide.ts';
import { knownTo } from '../webhook/support/cluster-of.ts';

const test = suite('pods that are written to keep the webhook busy');

const defaults: InjectionDefaults = {
  ...{ vaultAddress: 'https://vault.example:8200', wrapperImage: 'wrapper:1', proxyImage: 'proxy:1' },
  ...{
    wrapperDelivery: 'copy',
    seccompDefault: true,
    caConfigMap: 'svc-ca',
    agentSocket: '/run/svc/agent.sock',
  },
  development: false,
};
const needed = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-paths': 'secret/app' };
const app: Container = { name: 'app', image: 'app:1', command: ['/app'] };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Far more of the processor than each needs, and far less than it took. */
const generousMs = 5_000;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Bytes that the last answer took. */
let reserved = 0;
const reserve = async (bytes: number) => {
  reserved = bytes;
  return bytes <= maxAnswerMemory;
};

async function decideOn(
  spec: Partial<Pod['spec']>,
  annotations: object = {},
  images: ReadonlyMap<string, ImageCommand> = new Map(),
): Promise<Decision> {
  const pod: Pod = {
    metadata: { annotations: { ...needed, ...annotations } },
    spec: { containers: [app], ...spec },
  };
  const deps = {
    ...knownTo({ namespaces: { team: {} } }),
    images: { commandsOf: async () => images },
    ...{ defaults, namespace: 'svc-system', nativeSidecars: () => true },
    hasForeignAuthorities: () => false,
  } as unknown as DecideDeps;
  const request = { uid: 'u', operation: 'CREATE', namespace: 'team', name: '', dryRun: false, user: 'u' };
  const began = cpuMs();
  const limits = { timeoutMs: 60_000, signal: new AbortController().signal, reserve };
  const decision = await decide({ ...request, pod }, deps, limits);
  assert.ok(cpuMs() - began < generousMs, 'in a moment');
  return decision;
}

const mounted = (mountPath: string) => ({
  containers: [{ ...app, volumeMounts: [{ name: 'data', mountPath }] }],
});

test('settings that each of many containers would get', async () => {
  const containers = numbers(480).map((at) => ({ ...app, name: `c${at}` }));
  const paths = numbers(300).map((at) => `secret/${'p'.repeat(88)}${at}`);
  const many = { 'svc/secret-paths': paths.join(',') };
  assert.is((await decideOn({ containers: containers.slice(0, 5) }, many)).kind, 'inject');
  const decision = await decideOn({ containers }, many);
  assert.is(decision.kind, 'deny');
  assert.match(
    JSON.stringify(decision),
    /1048576 bytes of settings and commands that svc sets in all wrapped containers together/,
  );
});

const bare = (count: number): Container[] =>
  numbers(count).map((at) => ({ name: `c${at}`, image: 'app:1', securityContext: { runAsUser: 1_000 } }));

test('a command in an annotation that each of many containers would get', async () => {
  const command = { 'svc/command': JSON.stringify(['/app', ...numbers(9_000).map(() => 'a')]) };
  assert.is((await decideOn({ containers: bare(20) }, command)).kind, 'inject');
  assert.match(
    JSON.stringify(await decideOn({ containers: bare(400) }, command)),
    /1048576 bytes of settings and commands/,
  );
});

test('the command of an image that each of many containers would get', async () => {
  const image = { entrypoint: ['/app', ...numbers(900).map(() => 'a'.repeat(30))], cmd: [], user: '' };
  const images = new Map([['app:1', image]]);
  assert.is((await decideOn({ containers: bare(20) }, {}, images)).kind, 'inject');
  assert.match(
    JSON.stringify(await decideOn({ containers: bare(500) }, {}, images)),
    /1048576 bytes of settings and commands/,
  );
});

test('long annotations of many containers', async () => {
  for (const name of ['svc/vault-role', 'svc/vault-auth-mount', 'svc/vault-address']) {
    const value = { 'svc/vault-address': 'https://vault.example/' }[name] ?? '';
    const decision = await decideOn(
      { containers: bare(500) },
      { [name]: value + 'a'.repeat(5_000), 'svc/command': '["/app"]' },
    );
    assert.is(decision.kind, 'deny', name);
  }
});

test('the largest answer has room, and one that has none is refused', async () => {
  const command = { 'svc/command': '["/app"]' };
  const largest = {
    containers: bare(500).map((one) => ({
      ...one,
      args: ['€'.repeat(300)],
      env: [{ name: 'E', value: 'a'.repeat(1_500) }],
    })),
  };
  assert.is((await decideOn(largest, command)).kind, 'inject');
  assert.ok(reserved > maxAnswerMemory / 2, `${reserved}`);
  const larger = {
    containers: largest.containers.map((one) => ({ ...one, env: [{ name: 'E', value: 'a'.repeat(5_000) }] })),
  };
  assert.match(JSON.stringify(await decideOn(larger, command)), /2621440 bytes with what svc adds to it/);
});

test('a mount path of slashes', async () => {
  assert.is((await decideOn(mounted(`${'/'.repeat(4_000)}x`))).kind, 'inject');
  assert.is((await decideOn(mounted(`${'/'.repeat(500_000)}x`))).kind, 'deny');
  assert.is(resolvedPath(`${'/'.repeat(500_000)}x`), '/x');
});

test('references that are never closed', async () => {
  assert.is((await decideOn({ containers: [{ ...app, args: ['$('.repeat(130_000)] }] })).kind, 'inject');
});

test('many references to many variables', async () => {
  const env = numbers(10_000).map((index) => ({ name: `E${index}`, value: 'plain' }));
  const args = numbers(9_999).map(() => '$(E0)');
  assert.is((await decideOn({ containers: [{ ...app, args, env }] })).kind, 'inject');
});

const refused: Readonly<Record<string, readonly [Partial<Pod['spec']>, object, RegExp]>> = {
  'many containers': [
    { containers: numbers(20_000).map((index) => ({ ...app, name: `c${index}` })) },
    {},
    /at most 500 containers, has 20000/,
  ],
  'a long command line': [
    { containers: [{ ...app, args: ['$('.repeat(500_000)] }] },
    {},
    /container app, command and args: should have at most 262144 characters, has 1000004/,
  ],
  'many words': [
    { initContainers: [{ ...app, name: 'first', args: numbers(50_000).map(() => '') }] },
    {},
    /container first, command and args: should have at most 10000 words, has 50001/,
  ],
  'many words in an annotation': [
    {},
    { 'svc/command': `["a"${',""'.repeat(50_000)}]` },
    /svc\/command: should be a JSON array/,
  ],
  'many variables': [
    { containers: [{ ...app, env: numbers(50_000).map((index) => ({ name: `E${index}` })) }] },
    {},
    /container app, env: should have at most 10000 variables, has 50000/,
  ],
  'many paths': [
    {},
    { 'svc/secret-paths': numbers(20_000).join(',') },
    /svc\/secret-paths: should have at most 1000 paths/,
  ],
  'many volumes': [
    { volumes: numbers(100_000).map((index) => ({ name: `v${index}` })) },
    {},
    /at most 1000 volumes/,
  ],
  'an annotation with a long name': [
    {},
    { [`svc/${'a'.repeat(1_000_000)}`]: '' },
    /at most 262144 characters/,
  ],
  'many annotations': [
    {},
    Object.fromEntries(numbers(20_000).map((index) => [`svc/vault-addres${index}`, ''])),
    /at most 100 annotations of svc/,
  ],
  'a path of slashes': [{}, { 'svc/secret-paths': `a${'/'.repeat(200_000)}a` }, /should be a list/],
  'many secret mappings': [
    {},
    { 'svc/secret-mapping': numbers(20_000).join(',') },
    /svc\/secret-mapping: should have at most 64/,
  ],
};

const long = 'a'.repeat(5_000);
const longTexts: typeof refused = {
  'a long name of a container': [
    { containers: [{ ...app, name: long }] },
    {},
    /container a{100}…, name: .* at most 253/,
  ],
  'a long image': [{ containers: [{ ...app, image: long }] }, {}, /container app, image: .* at most 1024/],
  'a long name of a volume': [{ volumes: [{ name: long }] }, {}, /spec.volumes, name: .* at most 253/],
  'a long name of a mount': [
    { containers: [{ ...app, volumeMounts: [{ name: long, mountPath: '/a' }] }] },
    {},
    /container app, volumeMounts, name: .* at most 253/,
  ],
  'a long mount path': [mounted(`/${long}`), {}, /container app, volumeMounts, mountPath: .* at most 4096/],
  'a long name of a variable': [
    { containers: [{ ...app, env: [{ name: long }] }] },
    {},
    /container app, env, name: .* at most 1024/,
  ],
  'a name that is no text': [
    { containers: [{ ...app, name: [long] as unknown as string }] },
    {},
    /container .*, name: should be text of at most 253/,
  ],
  'many wrong mappings': [
    {},
    { 'svc/env-map': ','.repeat(250_000) },
    /svc\/env-map: should have at most 32768 items/,
  ],
};

for (const [name, [spec, annotations, why]] of Object.entries(longTexts)) {
  test(`${name} is refused, and the answer is short`, async () => {
    const decision = await decideOn(spec, annotations);
    assert.is(decision.kind, 'deny');
    assert.match(JSON.stringify(decision), why);
    assert.ok(JSON.stringify(decision).length < 2_000);
  });
}

for (const [name, [spec, annotations, why]] of Object.entries(refused)) {
  test(name, async () => {
    const decision = await decideOn(spec, annotations);
    assert.is(decision.kind, 'deny');
    assert.match(JSON.stringify(decision), why);
  });
}

test('a refusal is no longer than somebody can read', async () => {
  const containers = numbers(400).map((index) => ({ ...app, name: `container-${index}` }));
  const named = numbers(400).map((index) => `other-${index}`);
  const decision = await decideOn({ containers }, { 'svc/containers': named.join(',') });
  assert.is(decision.kind, 'deny');
  assert.ok(JSON.stringify(decision).length < 120_000);
  assert.match(JSON.stringify(decision), /and 350 more/);
});

test('names of some length are cut, and lists of names', async () => {
  const name = (index: number) => `${index}-`.padEnd(200, 'a');
  const containers = numbers(40).map((index) => ({ ...app, name: name(index) }));
  const decision = await decideOn({ containers }, { 'svc/containers': 'other' });
  const [error = ''] = decision.kind === 'deny' ? decision.errors : [];
  assert.match(error, /"other", it has 0-a{98}…, .* and 30 more$/);
  assert.ok(error.length < 1_300, error);
});

test('warnings are no longer than somebody can read', async () => {
  const containers = numbers(400).map((index) => ({
    ...app,
    name: `c${index}`,
    securityContext: { runAsUser: 0 },
  }));
  const decision = await decideOn({ containers, hostUsers: false });
  assert.is(decision.kind, 'inject');
  const warnings = decision.kind === 'inject' ? decision.warnings : [];
  assert.is(warnings.at(-1), 'and 350 more');
  assert.is(warnings.length, 51);
});

test.run();
