import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { annotationNames } from '../../../../src/cluster/injection/resolve/annotations.ts';
import { parseEnvMap } from '../../../../src/runtime/environment/env-map.ts';
import { configNamed, enough, planOf, podWith, resolve } from './support.ts';

const test = suite('annotations of every kind');

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const paths = fc.uniqueArray(
  fc.array(word, { minLength: 2, maxLength: 4 }).map((segments) => segments.join('/')),
  { minLength: 1, maxLength: 5 },
);
const command = fc.array(
  fc.string().filter((one) => !one.includes('\0')),
  { minLength: 1 },
);
const valid = fc.record({
  paths,
  fields: fc.uniqueArray(word, { maxLength: 5 }),
  role: word,
  host: word,
  port: fc.integer({ min: 1, max: 65_535 }),
  command: command.filter(([first]) => first !== ''),
  containers: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
  seconds: fc.integer({ min: 1, max: 100_000 }),
});

test('a valid set means what it says', () => {
  fc.assert(
    fc.property(valid, (given) => {
      const groups = given.paths.map((_, at) =>
        given.fields.filter((__, index) => index % given.paths.length === at),
      );
      const map = groups.map((group) => group.map((field) => `${field}=VAR_${field}`).join(',')).join(';');
      const plan = planOf(
        podWith({
          ...{
            'svc/vault-address': `https://${given.host}.example:${given.port}`,
            'svc/vault-role': given.role,
          },
          ...{ 'svc/secret-paths': given.paths.join(', '), 'svc/env-map': map },
          ...{ 'svc/command': JSON.stringify(given.command), 'svc/containers': given.containers.join(',') },
          'svc/renewal-interval': `${given.seconds}s`,
        }),
      );
      assert.is(plan.vault.address, `https://${given.host}.example:${given.port}`);
      assert.is(plan.vault.role, given.role);
      assert.equal(
        plan.secrets,
        given.paths.map((path, at) => ({
          path,
          mappings: (groups[at] ?? []).map((field) => ({ field, variable: `VAR_${field}` })),
        })),
      );
      assert.equal(plan.command, given.command);
      assert.equal(plan.containers, given.containers);
      assert.is(plan.renewalInterval, `${given.seconds}s`);
    }),
  );
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'a/=;,.:"[]\\ \0-_1', 'https://', '%', '$(A)') }),
);
const anyName = fc.oneof(
  fc.constantFrom(...annotationNames),
  anyText.map((end) => `svc/${end}`),
  anyText,
);

test('no text makes it throw, and every error names an annotation', () => {
  fc.assert(
    fc.property(fc.dictionary(anyName, anyText), fc.boolean(), (texts, complete) => {
      const resolution = resolve(podWith(complete ? { ...enough, ...texts } : texts));
      const asked = complete || Object.keys(texts).some((name) => /^svc\//i.test(name));
      assert.is(resolution.kind === 'skip', !asked || texts['svc/inject'] === 'false');
      if (resolution.kind !== 'deny') return;
      assert.ok(resolution.errors.length > 0);
      assert.ok(resolution.errors.every((one) => /^svc\//i.test(one)));
    }),
  );
});

test('no ServiceConfig makes it throw', () => {
  const variables = fc.dictionary(anyText, anyText, { noNullPrototype: true });
  const spec = fc.record(
    {
      vault: fc.record({ address: anyText, role: anyText, authMount: anyText }, { requiredKeys: [] }),
      secretPaths: fc.array(anyText),
      envMap: fc.array(fc.record({ path: anyText, variables })),
      secretMappings: fc.array(anyText),
      renewalInterval: anyText,
      containers: fc.array(anyText),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(spec, (given) => {
      // biome-ignore lint/suspicious/noExplicitAny: what an older schema may have let in
      const resolution = resolve(podWith({}), { serviceConfigs: [configNamed('c', given as any)] });
      assert.is.not(resolution.kind, 'skip');
    }),
  );
});

test('a map of variables reaches the wrapper as it was written', () => {
  const item = fc.tuple(fc.string({ unit: fc.constantFrom('a', '.', '=', 'ß'), minLength: 1 }), word);
  fc.assert(
    fc.property(fc.uniqueArray(item, { selector: ([, variable]) => variable }), (items) => {
      const map = items.map(([field, variable]) => `${field}=${variable}`).join(',');
      const { mappings = [] } = planOf(podWith({ ...enough, 'svc/env-map': map })).secrets[0] ?? {};
      assert.equal([mappings], parseEnvMap(map).map.length === 0 ? [[]] : parseEnvMap(map).map);
    }),
  );
});

test.run();
