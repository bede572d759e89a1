import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  ImageCommand,
  InjectionDefaults,
  InjectionPlan,
} from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import { patchSize } from '../../../../src/cluster/injection/mutate/patch-size.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import { patchBetween } from '../../../../src/plugins/operator/webhook/decide.ts';

const test = suite('patchSize');

/** Texts of what is escaped somewhere: for the kubelet, as an item of a list, as JSON. */
const text = fc.string({
  unit: fc.constantFrom('a', '$', ',', '\\', '"', '€', '\n', '\u0001', '$(', ')', '🔑', '\ud800'),
  maxLength: 60,
});
const words = fc.array(text, { maxLength: 5 });
const name = fc.stringMatching(/^[a-z]{1,40}$/);

const defaults: fc.Arbitrary<InjectionDefaults> = fc.record({
  ...{ vaultAddress: fc.constant('https://vault.example:8200'), wrapperImage: text, proxyImage: text },
  wrapperDelivery: fc.constantFrom('copy', 'image', 'host'),
  ...{
    caConfigMap: fc.option(name, { nil: undefined }),
    agentSocket: fc.option(fc.constant('/run/svc/a.sock'), { nil: undefined }),
  },
  ...{ seccompDefault: fc.boolean(), development: fc.boolean() },
});

const plans: fc.Arbitrary<InjectionPlan> = fc.record({
  vault: fc.record({ address: text, role: text, authMount: text, skipVerify: fc.boolean() }),
  secrets: fc.array(
    fc.record({
      path: name,
      mappings: fc.array(fc.record({ field: name, variable: name }), { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  ...{ envMapOnly: fc.boolean(), rotation: fc.constant('restart' as const), renewalInterval: text },
  ...{ delivery: fc.constant('both' as const), containers: fc.constant(undefined) },
  command: fc.option(words, { nil: undefined }),
  proxy: fc.option(
    fc.record({
      ...{ enabled: fc.constant(true), role: text, upstream: text, transitKey: text },
      ...{ callerKeys: fc.boolean(), storeCA: name, recoveryRecipients: words },
    }),
    { nil: undefined },
  ),
  serviceConfig: fc.constant(undefined),
});

const containers: fc.Arbitrary<Container[]> = fc.uniqueArray(
  fc.record(
    {
      ...{ name, image: fc.constantFrom('one:1', 'two:2'), command: words, args: words },
      env: fc.array(fc.record({ name, value: text }), { maxLength: 3 }),
      securityContext: fc.record({ runAsUser: fc.constantFrom(0, 1_000) }),
    },
    { requiredKeys: ['name', 'image'] },
  ),
  { selector: (one) => one.name, minLength: 1, maxLength: 6 },
);

const images: fc.Arbitrary<ReadonlyMap<string, ImageCommand>> = fc
  .record({ entrypoint: words, cmd: words, user: fc.constantFrom('', '1000') })
  .map(
    (one) =>
      new Map([
        ['one:1', one],
        ['two:2', { ...one, entrypoint: ['/two', ...one.entrypoint] }],
      ]),
  );

test('no patch is larger than what was counted', () => {
  let injected = 0;
  fc.assert(
    fc.property(plans, defaults, containers, images, fc.boolean(), (plan, given, all, found, sidecars) => {
      const pod: Pod = { metadata: {}, spec: { containers: all } };
      const newCallerKeys = () => ({ id: 'i'.repeat(20), secret: 's'.repeat(40) });
      const surroundings = {
        podSecurity: 'privileged',
        nativeSidecars: sidecars,
        images: found,
        newCallerKeys,
      } as const;
      const mutation = mutatePod(pod, plan, given, surroundings);
      if (mutation.kind === 'deny') return;
      injected += 1;
      const actual = Buffer.byteLength(JSON.stringify(patchBetween(pod, mutation.pod)));
      const { bytes } = patchSize(pod, plan, given, found);
      assert.ok(actual <= bytes, `${actual} bytes, ${bytes} counted`);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(injected > 100, `only ${injected} of the pods were injected`);
});

test('a usual pod is counted as a few kilobytes', () => {
  const plan: InjectionPlan = {
    vault: { address: 'https://vault.example', role: 'app', authMount: undefined, skipVerify: false },
    secrets: [{ path: 'secret/app', mappings: [] }],
    ...{ rotation: undefined, renewalInterval: undefined, delivery: undefined, containers: undefined },
    ...{ command: undefined, proxy: undefined, serviceConfig: undefined },
  };
  const pod: Pod = {
    metadata: {},
    spec: { containers: [{ name: 'app', image: 'app:1', command: ['/app'] }] },
  };
  const [given] = fc.sample(defaults, { numRuns: 1, seed: 1 });
  const { bytes } = patchSize(pod, plan, given as InjectionDefaults, new Map());
  assert.ok(bytes < 16_384, `${bytes}`);
});

test.run();
