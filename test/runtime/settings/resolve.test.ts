import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { listenAddressOrOff } from '../../../src/runtime/settings/listen-address.ts';
import {
  applyRules,
  type ConfigSection,
  resolveSettings,
  type SettingsCheck,
  type Sources,
  sectionOf,
} from '../../../src/runtime/settings/resolve.ts';
import {
  boolean,
  integer,
  list,
  SettingMistake,
  type Settings,
  text,
} from '../../../src/runtime/settings/setting.ts';

const settings = {
  size: { variable: 'SVC_SIZE', flag: 'size', summary: '', fallback: '5', ...integer(1, 10) },
  strict: {
    variable: 'SVC_STRICT',
    flag: 'strict',
    summary: '',
    fallback: 'false',
    switch: true,
    ...boolean(),
  },
  name: { variable: 'SVC_NAME', flag: 'name', summary: '', required: true, ...text('a name') },
  secret: { variable: 'SVC_SECRET', summary: '', secret: true, ...integer(1, 10) },
  health: { variable: 'SVC_HEALTH', flag: 'health', summary: '', fallback: ':8191', ...listenAddressOrOff() },
  peers: { variable: 'SVC_PEERS', flag: 'peers', summary: '', ...list(text()) },
} satisfies Settings;

const resolving = suite('resolving settings');

resolving('takes the flag before the variable before the file before the default', () => {
  const flags = { size: '1' };
  const env = { SVC_NAME: 'n', SVC_SIZE: '2' };
  const file = section({ size: '3' });
  assert.is(resolveSettings(settings, { flags, env, file }).size, 1);
  assert.is(resolveSettings(settings, { env, file }).size, 2);
  assert.is(resolveSettings(settings, { env: { SVC_NAME: 'n' }, file }).size, 3);
  assert.is(resolveSettings(settings, { env: { SVC_NAME: 'n' } }).size, 5);
});

resolving('leaves an optional setting undefined and knows its type', () => {
  const config = resolveSettings(settings, { env: { SVC_NAME: 'n' } });
  const name: string = config.name;
  const peers: readonly string[] | undefined = config.peers;
  assert.is(name, 'n');
  assert.is(peers, undefined);
});

resolving('reads a flag without a value', () => {
  const env = { SVC_NAME: 'n', SVC_STRICT: 'false' };
  assert.is(resolveSettings(settings, { flags: { strict: true }, env }).strict, true);
  assert.is(resolveSettings(settings, { flags: { strict: undefined }, env }).strict, false);
});

resolving('counts an empty variable as not given unless empty means something', () => {
  const config = resolveSettings(settings, { env: { SVC_NAME: 'n', SVC_SIZE: '', SVC_HEALTH: '' } });
  assert.is(config.size, 5);
  assert.is(config.health, undefined);
  assert.equal(errorsOf({ env: { SVC_NAME: '' } }), ['SVC_NAME (--name): required, should be a name']);
  assert.equal(errorsOf({ flags: { name: '' } }), ['--name (SVC_NAME): should be a name, is ""']);
});

resolving('reports all errors at once, each with its origin and what it should be', () => {
  const file = section({ peers: 'a,,b', sise: '1', health: { a: 'b' } });
  assert.equal(errorsOf({ flags: { size: '11' }, env: { SVC_STRICT: 'yes' }, file }), [
    'svc.yaml, demo.sise: unknown key (did you mean size?)',
    'svc.yaml, demo.health: should be one value or a list of values without commas',
    '--size (SVC_SIZE): should be a whole number from 1 to 10, is "11"',
    'SVC_STRICT: should be true or false, is "yes"',
    'SVC_NAME (--name): required, should be a name',
    'svc.yaml, demo.peers (SVC_PEERS): should be a list, separated by commas, each item a text, is "a,,b"',
  ]);
});

resolving('never shows a secret, nor the credentials in a URL, nor control characters', () => {
  const env = { SVC_NAME: 'n', SVC_SECRET: 'hvs.4711', SVC_SIZE: 'http://user:pass4711@host/\u001b[31m' };
  const [size, secret] = errorsOf({ env });
  assert.is(secret, 'SVC_SECRET: should be a whole number from 1 to 10');
  assert.is(size, 'SVC_SIZE: should be a whole number from 1 to 10, is "http://***@host/\\u001b[31m"');
});

resolving('cuts a long value', () => {
  const [error = ''] = errorsOf({ env: { SVC_NAME: 'n', SVC_SIZE: '7'.repeat(5000) } });
  assert.ok(error.length < 150);
});

resolving('adds the reason that a parser of a component gives', () => {
  const picky = {
    key: { variable: 'SVC_KEY', summary: '', expects: 'a key', parse: () => fail('too short') },
  } satisfies Settings;
  const error = failure(() => resolveSettings(picky, { env: { SVC_KEY: 'k' } }));
  assert.equal(error.details, ['SVC_KEY: should be a key (too short), is "k"']);
});

resolving('checks settings against each other together with the rest', () => {
  const check: SettingsCheck<typeof settings> = (config) =>
    applyRules(config, [
      ({ size, strict }) => (strict && size < 7 ? 'SVC_SIZE: at least 7 under --strict' : undefined),
      ({ name }) => (name === 'bad' ? 'SVC_NAME: is bad' : undefined),
    ]);
  const env = { SVC_NAME: 'bad', SVC_STRICT: 'true' };
  assert.equal(errorsOf({ env }, check), ['SVC_SIZE: at least 7 under --strict', 'SVC_NAME: is bad']);
  assert.equal(errorsOf({ env: { ...env, SVC_SIZE: 'x' } }, check), [
    'SVC_SIZE: should be a whole number from 1 to 10, is "x"',
    'SVC_NAME: is bad',
  ]);
});

resolving('passes over a plain check that reads a wrong setting', () => {
  const check: SettingsCheck<typeof settings> = ({ size }) => [`size is ${size}`];
  assert.equal(errorsOf({ env: { SVC_NAME: 'n', SVC_SIZE: 'x' } }, check).length, 1);
});

resolving('lets the breakage of a check through', () => {
  const check: SettingsCheck<typeof settings> = () => fail('broken');
  assert.throws(() => resolveSettings(settings, { env: { SVC_NAME: 'n' } }, check), /broken/);
});

resolving('ends with the status for configuration', () => {
  const error = failure(() => resolveSettings(settings, {}));
  assert.is(error.code, 'CONFIG_INVALID');
  assert.is(error.exitStatus, 78);
});

function section(demo: Record<string, unknown>): ConfigSection {
  return sectionOf({ path: 'svc.yaml', content: { demo } }, 'demo', settings);
}

function errorsOf(sources: Sources, check?: SettingsCheck<typeof settings>): readonly string[] {
  return failure(() => resolveSettings(settings, sources, check)).details;
}

function failure(action: () => unknown): SvcError {
  try {
    action();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function fail(message: string): never {
  throw new SettingMistake(message);
}

resolving.run();
