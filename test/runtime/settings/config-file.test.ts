import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fileKey, sectionOf } from '../../../src/runtime/settings/resolve.ts';
import { type Settings, text } from '../../../src/runtime/settings/setting.ts';

const settings = {
  listen: { variable: 'SVC_PROXY_LISTEN', flag: 'listen', summary: '', ...text() },
  token: { variable: 'VAULT_TOKEN', summary: '', ...text() },
} satisfies Settings;

const sections = suite('sections of a configuration file');

sections('a key is the flag, or the variable where there is none', () => {
  assert.is(fileKey(settings.listen), 'listen');
  assert.is(fileKey(settings.token), 'vault-token');
});

sections('takes the texts of one component and leaves the others alone', () => {
  const { texts, errors } = read({
    proxy: { listen: ':1', 'vault-token': 't' },
    wrapper: { whatever: 'x' },
  });
  assert.equal(
    [...texts],
    [
      ['listen', ':1'],
      ['vault-token', 't'],
    ],
  );
  assert.equal(errors, []);
});

sections('joins a list', () => {
  assert.is(read({ proxy: { listen: ['a', 'b'] } }).texts.get('listen'), 'a,b');
  assert.is(read({ proxy: { listen: ['a,b'] } }).errors.length, 1);
  assert.is(read({ proxy: { listen: [['a']] } }).errors.length, 1);
});

sections('an empty file, section or entry is no error', () => {
  for (const content of [undefined, null, '', {}, { proxy: '' }, { proxy: {} }]) {
    assert.equal(read(content).errors, [], JSON.stringify(content));
  }
});

sections('names keys that nobody knows, also those of Object.prototype', () => {
  assert.equal(read({ proxy: { lisen: 'x', toString: 'y' } }).errors, [
    'svc.yaml, proxy.lisen: unknown key (did you mean listen?)',
    'svc.yaml, proxy.toString: unknown key',
  ]);
});

sections('names entries outside of a section and mistyped sections', () => {
  assert.equal(read({ listen: ':1', prxy: { listen: ':1' } }).errors, [
    'svc.yaml, listen: should be a section with keys of its own, such as proxy:',
    'svc.yaml, prxy: unknown section (did you mean proxy?)',
  ]);
  assert.equal(read(['proxy']).errors, ['svc.yaml: should be sections such as proxy:']);
});

function read(content: unknown) {
  return sectionOf({ path: 'svc.yaml', content }, 'proxy', settings);
}

sections.run();
