import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckResult } from '../../../../../src/plugins/validate/check.ts';
import { checks } from '../../../../../src/plugins/validate/registry.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import { configOf, contextOf } from '../../test-context.ts';
import { type FakeVault, fakeVault } from '../../vault/fake-vault.ts';

const test = suite('verdicts on a secrets server');
const variables = { VAULT_ADDR: 'https://vault.test:8200', VAULT_AUTH_ROLE: 'shop' };

async function verdictOf(
  id: string,
  changes: Partial<FakeVault>,
  more: Readonly<Record<string, string>> = {},
): Promise<CheckResult> {
  const check = checks.find((one) => one.id === id);
  if (check === undefined) throw new Error(`there is no ${id}`);
  const config = configOf({ ...variables, ...more });
  return runCheck(check, contextOf({ config, vault: async () => fakeVault(changes) }));
}

const roleOf = (data: object) =>
  verdictOf('SVC-VAULT-007', { answers: { 'auth/kubernetes/role/shop': { data } } });

test('a role that does not say whom it accepts is not taken for a bound one', async () => {
  assert.is((await roleOf({ bound_claims: {} })).state, 'not-evaluated');
  assert.is(
    (await roleOf({ bound_service_account_names: ['web'], bound_service_account_namespaces: [] })).state,
    'not-evaluated',
  );
  const stars = { bound_service_account_names: ['web', '**'], bound_service_account_namespaces: ['shop'] };
  assert.is((await roleOf(stars)).state, 'failed');
});

test('namespaces that are chosen by labels are told of', async () => {
  const bound = { bound_service_account_names: ['web'], bound_service_account_namespaces: null };
  const found = await roleOf({ ...bound, bound_service_account_namespace_selector: '{"matchLabels":{}}' });
  assert.match(JSON.stringify(found), /"failed".*by their labels.*"warning"|"failed".*"warning".*by their/);
});

test('a wrapper without KV paths has no policy that could suffice', async () => {
  const identity = { SVC_VALIDATE_IDENTITY: 'wrapper' };
  assert.is((await verdictOf('SVC-VAULT-008', {}, identity)).state, 'skipped');
});

test("a proxy's policy need not reach the KV paths of the workloads", async () => {
  const more = { SVC_VALIDATE_IDENTITY: 'proxy', SVC_SECRET_PATHS: 'secret/shop' };
  const answers = { 'sys/internal/ui/mounts/secret/shop': 403 };
  assert.is((await verdictOf('SVC-VAULT-008', { answers }, more)).state, 'passed');
});

test('where no KV path is found, no store is said to keep versions', async () => {
  const answers = { 'sys/internal/ui/mounts/secret/shop': 403 };
  const found = await verdictOf('SVC-VAULT-012', { answers }, { SVC_SECRET_PATHS: 'secret/shop' });
  assert.is(found.state, 'skipped');
});

test.run();
