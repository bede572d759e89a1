import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startOpenBao } from '../../support/openbao.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import type { KubernetesAuth, OpenBao } from '../../support/types.ts';
import { reportOf, runValidate, statesOf } from './run-validate.ts';

const test = suite('svc validate against OpenBao');
const planted = 'planted-password-4711';
const exact = `
path "transit/encrypt/svc" { capabilities = ["update"] }
path "transit/decrypt/svc" { capabilities = ["update"] }
path "secret/data/shop" { capabilities = ["read"] }`;

let bao: OpenBao;
let auth: KubernetesAuth;
let folder: TemporaryFolder;
let auditorTokenFile: string;

async function must(method: string, path: string, body?: unknown) {
  const answer = await bao.request(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

async function tokenOf(name: string, policy: string, defaultPolicy = true): Promise<string> {
  await must('PUT', `sys/policies/acl/${name}`, { policy });
  const body = { policies: [name], no_default_policy: !defaultPolicy, ttl: '1h' };
  return (await must('POST', 'auth/token/create', body)).json.auth.client_token;
}

const variables = (token: string, more: Readonly<Record<string, string>> = {}) => ({
  VAULT_ADDR: bao.url,
  VAULT_TOKEN: token,
  SVC_SECRET_PATHS: 'secret/shop',
  ...more,
});

const areas = ['secrets-server', 'kek'] as const;
const asAuditor = () => ({ SVC_VALIDATE_AUDITOR_TOKEN_FILE: auditorTokenFile });

test.before(async () => {
  bao = await startOpenBao();
  folder = temporaryFolder('validate');
  auditorTokenFile = join(folder.path, 'auditor');
  writeFileSync(auditorTokenFile, bao.rootToken, { mode: 0o600 });
  await bao.enableTransit();
  await must('POST', 'secret/data/shop', { data: { password: planted } });
  auth = await bao.enableKubernetesAuth({ policies: [await bao.transitPolicy()] });
});

test.after(async () => {
  await bao?.stop();
  await folder?.remove();
});

test('everything passes where everything is as specified', async () => {
  const run = await runValidate({ area: areas }, variables(await tokenOf('exact', exact), asAuditor()));
  assert.equal(
    Object.entries(statesOf(run)).filter(([, state]) => state !== 'passed'),
    // without TLS there is no certificate, and with a token no role
    ['SVC-VAULT-004', 'SVC-VAULT-005', 'SVC-VAULT-007'].map((id) => [id, 'skipped']),
    run.stdout,
  );
  assert.is(run.status, 0);
});

test('a policy that is too wide is found, with the path and the capability', async () => {
  const wide = exact.replace('"secret/data/shop"', '"secret/*"');
  const run = await runValidate({ area: areas }, variables(await tokenOf('wide', wide), asAuditor()));
  assert.is(run.status, 1);
  const { findings } = reportOf(run, 'SVC-VAULT-009');
  assert.ok(findings.some(({ subject }) => subject === 'secret/metadata/shop'));
  assert.ok(
    findings.some(({ subject, message }) => /^secret\/data\/svc-/.test(subject) && /read/.test(message)),
  );
  assert.is(reportOf(run, 'SVC-VAULT-008').state, 'passed');
});

test('so is one that may read the key, and a token of root', async () => {
  const wide = `${exact}\npath "transit/keys/svc" { capabilities = ["read"] }`;
  const token = await tokenOf('reading', wide);
  const run = await runValidate({ area: areas }, variables(token));
  assert.equal(reportOf(run, 'SVC-VAULT-009').findings, [
    { level: 'error', subject: 'transit/keys/svc', message: 'It permits read.' },
  ]);
  assert.is(reportOf(run, 'SVC-KEK-001').state, 'passed');
  const root = await runValidate({ check: ['SVC-VAULT-009'] }, variables(bao.rootToken));
  assert.equal(reportOf(root, 'SVC-VAULT-009').findings, [
    { level: 'error', subject: 'token', message: 'It is a token of root: everything is permitted.' },
  ]);
});

test('a policy that is too small is found', async () => {
  const small = `path "transit/encrypt/svc" { capabilities = ["update"] }`;
  const run = await runValidate({ area: areas }, variables(await tokenOf('small', small), asAuditor()));
  assert.is(run.status, 1);
  assert.equal(
    reportOf(run, 'SVC-VAULT-008').findings.map(({ subject }) => subject),
    ['secret/shop', 'transit/decrypt/svc'],
  );
  assert.equal(
    reportOf(run, 'SVC-VAULT-010').findings.map(({ subject }) => subject),
    ['transit/decrypt/svc'],
  );
  assert.is(reportOf(run, 'SVC-VAULT-011').state, 'failed');
});

test('what only an auditor may look at is named where there is none', async () => {
  const run = await runValidate({ area: areas }, variables(await tokenOf('exact', exact)));
  assert.is(run.status, 4);
  const { state, permission } = reportOf(run, 'SVC-KEK-002');
  assert.equal({ state, permission }, { state: 'not-evaluated', permission: 'read on transit/keys/svc' });
});

test('a login that may not ask what it may do is asked for by the auditor, or cannot be judged', async () => {
  const bare = await tokenOf('exact', exact, false);
  const told = await runValidate({ check: ['SVC-VAULT-009'] }, variables(bare, asAuditor()));
  assert.is(told.status, 0, told.stdout);
  const untold = await runValidate({ check: ['SVC-VAULT-009'] }, variables(bare));
  assert.is(untold.status, 4);
  assert.is(reportOf(untold, 'SVC-VAULT-009').permission, 'update on sys/capabilities-self');
});

test('a path where nothing is stored is found', async () => {
  const policy = `${exact}\npath "secret/data/nothing" { capabilities = ["read"] }`;
  const env = variables(await tokenOf('nothing', policy), { SVC_SECRET_PATHS: 'secret/shop,secret/nothing' });
  const run = await runValidate({ check: ['SVC-VAULT-011'] }, env);
  assert.equal(reportOf(run, 'SVC-VAULT-011').findings, [
    { level: 'error', subject: 'secret/nothing', message: 'Nothing is stored there.' },
  ]);
});

test('a key that can be exported, be backed up, be deleted or is of another type is found', async () => {
  await must('POST', 'transit/keys/weak', {
    ...{ type: 'aes128-gcm96', exportable: true, allow_plaintext_backup: true, derived: true },
  });
  await must('POST', 'transit/keys/weak/config', { deletion_allowed: true });
  const env = variables(bao.rootToken, { SVC_TRANSIT_KEY: 'weak' });
  const states = statesOf(await runValidate({ area: ['kek'] }, env));
  assert.equal(states, {
    ...{ 'SVC-KEK-001': 'failed', 'SVC-KEK-002': 'failed', 'SVC-KEK-003': 'failed', 'SVC-KEK-004': 'passed' },
    ...{ 'SVC-KEK-005': 'failed', 'SVC-KEK-006': 'passed', 'SVC-KEK-007': 'failed' },
  });
});

test('versions that unwrap nothing any more are told of', async () => {
  await bao.enableTransit('second', 'svc');
  await bao.rotate('second', 'svc');
  await must('POST', 'second/keys/svc/config', { min_decryption_version: 2 });
  const env = variables(bao.rootToken, { SVC_TRANSIT_MOUNT: 'second' });
  const run = await runValidate({ check: ['SVC-KEK-006'] }, env);
  assert.is(reportOf(run, 'SVC-KEK-006').findings[0]?.level, 'warning');
  assert.is(run.status, 0);
  assert.is((await runValidate({ check: ['SVC-KEK-006'], 'fail-on': 'warning' }, env)).status, 2);
});

test('a role that accepts every service account is found, and one that is not there', async () => {
  const env = (role: string) => ({
    VAULT_ADDR: bao.url,
    VAULT_AUTH_ROLE: role,
    SVC_SA_TOKEN_PATH: auth.jwtPath,
    ...asAuditor(),
  });
  const check = ['SVC-VAULT-006', 'SVC-VAULT-007'];
  assert.equal(statesOf(await runValidate({ check }, env(auth.role))), {
    ...{ 'SVC-VAULT-006': 'passed', 'SVC-VAULT-007': 'passed' },
  });
  await must('POST', `${auth.mountPath}/role/open`, {
    ...{ bound_service_account_names: ['*'], bound_service_account_namespaces: ['*'] },
  });
  const open = reportOf(await runValidate({ check }, env('open')), 'SVC-VAULT-007');
  assert.is(open.findings.length, 2);
  assert.equal(statesOf(await runValidate({ check }, env('absent'))), {
    ...{ 'SVC-VAULT-006': 'failed', 'SVC-VAULT-007': 'failed' },
  });
});

test('no secret, token or value stands in any form of the report', async () => {
  const token = await tokenOf('exact', exact);
  for (const output of ['table', 'short', 'json', 'junit', 'sarif'] as const) {
    const { stdout, stderr } = await runValidate({ output, area: areas }, variables(token, asAuditor()));
    for (const secret of [planted, token]) assert.not.ok(`${stdout}${stderr}`.includes(secret), output);
  }
});

test('sealed, it is found as that, and the rest cannot be evaluated', async () => {
  const token = await tokenOf('exact', exact);
  await bao.seal();
  const run = await runValidate({ area: areas }, variables(token));
  assert.is(run.status, 1);
  const states = statesOf(run);
  assert.is(states['SVC-VAULT-001'], 'passed');
  assert.is(states['SVC-VAULT-002'], 'failed');
  assert.is(states['SVC-VAULT-010'], 'not-evaluated');
  assert.is(states['SVC-KEK-001'], 'not-evaluated');
  const waiting = runValidate({ area: areas, wait: '60s' }, variables(token, asAuditor()));
  await bao.unseal();
  assert.is((await waiting).status, 0);
});

test('gone, it does not answer', async () => {
  await bao.stop();
  const run = await runValidate({ area: areas }, { VAULT_ADDR: bao.url, VAULT_TOKEN: 'x' });
  assert.is(run.status, 1);
  assert.is(reportOf(run, 'SVC-VAULT-001').state, 'failed');
  assert.is(reportOf(run, 'SVC-VAULT-006').state, 'not-evaluated');
});

test.run();
