import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { flagsOf, variablesOnly } from '../../../src/runtime/cli/setting-flags.ts';

const flags = suite('flags of settings');
const text = { parse: (value: string) => value, expects: 'text' };

const SETTINGS = {
  listen: { variable: 'SVC_X_LISTEN', flag: 'listen', summary: 'Address', fallback: '127.0.0.1:1', ...text },
  strict: { variable: 'SVC_X_STRICT', flag: 'strict', summary: 'Spool first', switch: true, ...text },
  upstream: { variable: 'SVC_X_UPSTREAM', flag: 'upstream', summary: 'Store', required: true, ...text },
  pin: { variable: 'SVC_X_PIN', flag: 'pin', summary: 'Pin', secret: true, fallback: 'hush', ...text },
  key: { variable: 'SVC_X_KEY', summary: 'Secret key', secret: true, ...text },
};

flags('are named after the settings, without default or variable of their own', () => {
  const made = flagsOf(SETTINGS);
  assert.equal(Object.keys(made), ['listen', 'strict', 'upstream', 'pin']);
  for (const flag of Object.values(made)) {
    assert.is(flag.default, undefined);
    assert.is(flag.env, undefined);
    assert.is.not(flag.required, true);
  }
  assert.is(made['strict']?.type, 'boolean');
  assert.is(made['listen']?.type, 'option');
});

flags('say their variable and default, never a secret one', () => {
  const made = flagsOf(SETTINGS);
  assert.is(made['listen']?.summary, 'Address [SVC_X_LISTEN, default 127.0.0.1:1]');
  assert.is(made['upstream']?.summary, 'Store [SVC_X_UPSTREAM, required]');
  assert.is(made['pin']?.summary, 'Pin [SVC_X_PIN]');
});

flags('leave out what only a variable may give', () => {
  assert.equal(variablesOnly(SETTINGS), ['SVC_X_KEY  Secret key']);
});

flags.run();
