import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { operatorOf } from '../../../../src/plugins/agent/index.ts';
import { operatorRules, operatorSettings } from '../../../../src/plugins/agent/settings.ts';
import type { SvcError } from '../../../../src/runtime/errors.ts';
import { applyRules, resolveSettings } from '../../../../src/runtime/settings/resolve.ts';

const test = suite('settings of the channel to the operator');

const files = { SVC_OPERATOR_TLS_CERT: '/c', SVC_OPERATOR_TLS_KEY: '/k', SVC_OPERATOR_TLS_CA: '/a' };

const read = (env: Record<string, string>) =>
  resolveSettings(operatorSettings, { flags: {}, env }, (config) => applyRules(config, operatorRules));

function errors(env: Record<string, string>): readonly string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    return (error as SvcError).details;
  }
}

test('name an operator with the files for mutual TLS', () => {
  assert.equal(operatorOf(read({ SVC_OPERATOR_ADDR: 'svc-operator.svc-system.svc:8199', ...files })), {
    address: { host: 'svc-operator.svc-system.svc', port: 8199 },
    tls: { certPath: '/c', keyPath: '/k', caPath: '/a' },
    tokenPath: undefined,
  });
  const withToken = { SVC_OPERATOR_ADDR: '10.0.0.1:8199', ...files, SVC_OPERATOR_TOKEN_FILE: '/t' };
  assert.is((operatorOf(read(withToken)) as { tokenPath?: string }).tokenPath, '/t');
  assert.equal(operatorOf(read({ SVC_OPERATOR_ADDR: '[fd00::1]:8199', ...files })).address, {
    host: 'fd00::1',
    port: 8199,
  });
});

test('may name none', () => {
  assert.equal(operatorOf(read({})), {});
});

test('without the files name all that is missing at once', () => {
  const found = errors({ SVC_OPERATOR_ADDR: '10.0.0.1:8199' });
  assert.equal(
    found.map((line) => line.split(':')[0]),
    ['SVC_OPERATOR_TLS_CERT', 'SVC_OPERATOR_TLS_KEY', 'SVC_OPERATOR_TLS_CA'],
  );
  assert.match(found[0] ?? '', 'required, because SVC_OPERATOR_ADDR is set');
});

test('with files for no operator are an error too', () => {
  assert.is(errors({ ...files, SVC_OPERATOR_TOKEN_FILE: '/t' }).length, 4);
  assert.match(errors(files)[2] ?? '', 'SVC_OPERATOR_TLS_CA: has no effect');
});

test('admit neither an address without a host, nor port 0, nor a URL', () => {
  for (const address of [':8199', 'operator', 'operator:0', 'https://operator:8199', '10.0.0.300:8199']) {
    const [found] = errors({ SVC_OPERATOR_ADDR: address, ...files });
    assert.match(found ?? '', /^SVC_OPERATOR_ADDR: .*host:port such as svc-operator/, address);
  }
});

test.run();
