import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openVault } from '../../../src/plugins/validate/open-vault.ts';
import { checks } from '../../../src/plugins/validate/registry.ts';
import { runCheck } from '../../../src/plugins/validate/run-check.ts';
import { startOpenBao } from '../../support/openbao.ts';
import type { OpenBao } from '../../support/types.ts';
import { reportOf, runValidate } from './run-validate.ts';
import { configOf, contextOf } from './test-context.ts';

const test = suite('svc validate against OpenBao with TLS');
const day = 86_400_000;
let bao: OpenBao;

test.before(async () => {
  bao = await startOpenBao({ tls: true });
  await bao.enableTransit();
});

test.after(async () => bao?.stop());

const variables = (more: Readonly<Record<string, string>> = {}) => ({
  VAULT_ADDR: bao.url,
  VAULT_TOKEN: bao.rootToken,
  VAULT_CACERT: bao.caFile ?? '',
  ...more,
});

test('a certificate of an authority that is given is trusted, and of one that is not is refused', async () => {
  const check = ['SVC-VAULT-001', 'SVC-VAULT-004', 'SVC-VAULT-005', 'SVC-VAULT-006'];
  assert.is((await runValidate({ check }, variables())).status, 0);
  const run = await runValidate({ check }, variables({ VAULT_CACERT: '' }));
  assert.is(run.status, 1);
  assert.match(
    reportOf(run, 'SVC-VAULT-004').findings[0]?.message ?? '',
    /UNABLE_TO_GET_ISSUER_CERT_LOCALLY/,
  );
  assert.is(reportOf(run, 'SVC-VAULT-001').state, 'failed');
});

test('so is one of another name', async () => {
  const VAULT_ADDR = bao.url.replace('127.0.0.1', '[::ffff:127.0.0.1]');
  const run = await runValidate({ check: ['SVC-VAULT-004'] }, variables({ VAULT_ADDR }));
  assert.match(reportOf(run, 'SVC-VAULT-004').findings[0]?.message ?? '', /ERR_TLS_CERT_ALTNAME_INVALID/);
});

test('what will have grown old is found when the time has come', async () => {
  const config = configOf(variables());
  const vault = await openVault({ ...config, vaultAddr: new URL(bao.url) }, new AbortController().signal);
  const at = async (id: string, days: number) => {
    const check = checks.find((one) => one.id === id);
    const now = () => Date.now() + days * day;
    return check && runCheck(check, contextOf({ config, vault: async () => vault, now }));
  };
  try {
    assert.is((await at('SVC-KEK-004', 92))?.state, 'passed');
    assert.is((await at('SVC-KEK-004', 94))?.state, 'failed');
    assert.is((await at('SVC-VAULT-005', 0))?.state === 'not-evaluated', false);
    assert.is((await at('SVC-VAULT-005', 20_000))?.state, 'failed');
  } finally {
    await vault.close();
  }
});

test.run();
