import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkOperator, operatorSettings } from '../../../src/plugins/operator/settings.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';

const test = suite('settings of the operator');

const images = { SVC_WRAPPER_IMAGE: 'svc/wrapper:1', SVC_PROXY_IMAGE: 'svc/proxy:1' };

const read = (env: Readonly<Record<string, string>>) =>
  resolveSettings(operatorSettings, { flags: {}, env: { ...images, ...env } }, checkOperator);

function errors(env: Readonly<Record<string, string>>): string {
  try {
    read(env);
  } catch (error) {
    return (error as SvcError).details.join('\n');
  }
  throw new Error('nothing is wrong');
}

test('its ports are those of the specification', () => {
  const { webhook, metrics, health, grpc } = read({});
  assert.equal(
    [webhook, metrics, health, grpc].map((at) => at?.port),
    [9443, 8080, 8081, 8199],
  );
});

test('it elects a leader, verifies certificates and copies the wrapper unless it is told otherwise', () => {
  const { leaderElect, development, wrapperDelivery, namespace, certDir, caFile } = read({});
  assert.is(leaderElect, true);
  assert.is(development, false);
  assert.is(wrapperDelivery, 'copy');
  assert.is(namespace, 'svc-system');
  assert.equal([certDir, caFile], [undefined, undefined]);
});

test('every error is named at once', () => {
  const said = errors({
    SVC_WRAPPER_IMAGE: '',
    SVC_OPERATOR_WEBHOOK_ADDR: 'nowhere',
    SVC_WRAPPER_DELIVERY: 'post',
    SVC_OPERATOR_AGENT_SOCKET: 'agent.sock',
    SVC_OPERATOR_LEADER_ELECT: 'perhaps',
  });
  for (const name of ['SVC_WRAPPER_IMAGE', 'SVC_OPERATOR_WEBHOOK_ADDR', 'SVC_WRAPPER_DELIVERY'])
    assert.ok(said.includes(name), `${name} in ${said}`);
  assert.match(said, /SVC_OPERATOR_LEADER_ELECT/);
});

test('tokens and secrets travel encrypted: http is for loopback only', () => {
  assert.match(errors({ SVC_OPERATOR_VAULT_ADDR: 'http://vault.example:8200' }), /SVC_OPERATOR_VAULT_ADDR/);
  assert.is(read({ SVC_OPERATOR_VAULT_ADDR: 'http://127.0.0.1:8200' }).vaultAddress?.port, '8200');
});

test('the agent’s socket is a path on the nodes', () => {
  assert.match(errors({ SVC_OPERATOR_AGENT_SOCKET: 'agent.sock' }), /absolute path/);
  assert.is(read({ SVC_OPERATOR_AGENT_SOCKET: '/run/svc/agent.sock' }).agentSocket, '/run/svc/agent.sock');
});

test.run();
