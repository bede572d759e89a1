import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unknownVariables } from '../../../../../src/plugins/validate/areas/configuration.ts';
import { validateSettings } from '../../../../../src/plugins/validate/settings.ts';
import { wrapperSettings } from '../../../../../src/plugins/wrapper/settings.ts';
import { contextOf } from '../../test-context.ts';

const test = suite('SVC-CONFIG-003');

async function found(...names: readonly string[]): Promise<readonly string[]> {
  const settings = { ...validateSettings, ...wrapperSettings };
  const context = contextOf({
    env: Object.fromEntries(names.map((name) => [name, 'x'])),
    components: async () => [{ name: 'all', settings }],
  });
  const result = await unknownVariables.run(context, context.signal);
  return result.state === 'failed' ? result.failures.map(({ subject }) => subject) : [];
}

test('finds what differs by a letter or two', async () => {
  assert.equal(await found('SVC_SECRET_PATH', 'VAULT_ADR', 'SVC_ENVMAP'), [
    ...['SVC_SECRET_PATH', 'VAULT_ADR', 'SVC_ENVMAP'],
  ]);
});

test('leaves variables of others alone', async () => {
  const ofClients = ['VAULT_API_ADDR', 'VAULT_FORMAT', 'VAULT_CLIENT_CERT', 'VAULT_ROLE', 'VAULT_AGENT_ADDR'];
  const ofKubernetes = ['SVC_OPERATOR_SERVICE_HOST', 'SVC_OPERATOR_PORT_443_TCP_ADDR', 'SVC_POD_NAME'];
  assert.equal(await found(...ofClients, ...ofKubernetes, 'SVC_CONFIG', 'SVC_DEBUG'), []);
});

test.run();
