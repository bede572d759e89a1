import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { http } from '../support/http.ts';
import { npmEnv, packageOf } from '../support/npm.ts';
import { type NpmRegistry, startNpmRegistry } from '../support/npm-registry.ts';
import { startOpenBao } from '../support/openbao.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { OpenBao } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { buildSample, type Sample } from './support/sample.ts';
import { svcHome } from './support/svc-home.ts';

/** Starts many programs one after the other. */
export const timeout = 300_000;

const test = suite('a plugin, from its sources to svc run');
const work = temporaryFolder('plugin');
const home = svcHome();
let sample: Sample;
let registry: NpmRegistry;
let bao: OpenBao;

test.before(async () => {
  await ensureBuilt();
  bao = await startOpenBao();
  await bao.request('POST', 'secret/data/app', {
    data: { password: 'value-of-password', user: 'value-of-user' },
  });
  sample = await buildSample(work.path);
  const content = { tarball: sample.tarball };
  registry = await startNpmRegistry([{ manifest: packageOf(sample.folder), content }]);
});

test.after(async () => {
  await registry?.stop();
  await bao?.stop();
  await home.remove();
  await work.remove();
});

const vault = () => ({ VAULT_ADDR: bao.url, VAULT_TOKEN: bao.rootToken });

test('compiles against the published types', () => {
  assert.is(sample.errors, '');
});

test('is installed by name from a registry, which is asked for nothing else', async () => {
  const { status, stderr } = await home.svc(
    'plugins install svc-plugin-fields',
    npmEnv({ registry: registry.url }),
  );
  assert.is(status, 0, stderr);
  assert.ok(
    registry.asked.every((path) => path.startsWith('/svc-plugin-fields')),
    registry.asked.join(' '),
  );
  const listed = await home.svc('plugins');
  assert.match(listed.stdout, /svc-plugin-fields 1\.0\.0/, JSON.stringify(listed));
});

test('its component stands in svc run', async () => {
  const { stdout, stderr } = await home.svc('run');
  assert.match(stdout, /fields +Answer which fields a secret has\. \(from svc-plugin-fields\)/, stderr);
});

test('its command reads settings and the key server', async () => {
  const { stdout, stderr, status } = await home.svc('fields app', vault());
  assert.is(status, 0, stderr);
  assert.is(stdout, 'password\nuser\n');
  assert.equal(JSON.parse((await home.svc('fields app --json', vault())).stdout), {
    fields: ['password', 'user'],
  });
});

test('its command ends as ours do on what is wrong', async () => {
  const wrong = await home.svc('fields app --mount a/b', {
    VAULT_ADDR: 'nowhere',
    VAULT_TOKEN: 'token-of-nobody',
  });
  assert.is(wrong.status, 78);
  assert.match(
    wrong.stderr,
    /2 errors[\s\S]*VAULT_ADDR[\s\S]*FIELDS_MOUNT|2 errors[\s\S]*FIELDS_MOUNT[\s\S]*VAULT_ADDR/,
  );
  const absent = await home.svc('fields nothing', vault());
  assert.match(absent.stderr, /^Error: .*\(VAULT_NOT_FOUND\)\nNext: /);
  const denied = await home.svc('fields app --json', { ...vault(), VAULT_TOKEN: 'token-of-nobody' });
  assert.is(JSON.parse(denied.stdout).error.code, 'VAULT_DENIED');
  assert.not.match(denied.stdout + denied.stderr, /token-of-nobody/);
});

test('its component serves, says so by health and metrics, and drains on SIGTERM', async () => {
  const child = await home.start('run fields --listen 127.0.0.1:0 --health 127.0.0.1:0', vault());
  const line = await waitFor('the start-up line', () => /.*"listening".*/.exec(child.logs())?.[0]);
  const { address, health } = JSON.parse(line);
  const answer = await http(`http://${address}/app`);
  assert.equal([answer.status, answer.json], [200, ['password', 'user']]);
  assert.is((await http(`http://${address}/nothing`)).status, 502);
  assert.is((await http(`http://${health}/readyz`)).status, 200);
  const metrics = await http(`http://${health}/metrics`);
  assert.match(metrics.text, /fields_answers_total\{status="200"[^}]*\} 1/);
  assert.match(metrics.text, /component="fields"/);
  assert.equal(await child.end('SIGTERM'), { code: 0, signal: null }, child.logs());
  assert.match(child.logs(), /"stopped"/);
  assert.not.match(child.logs(), /value-of-/);
});

test('its component is not ready while the key server is away', async () => {
  const env = { ...vault(), VAULT_ADDR: 'http://127.0.0.1:9' };
  const child = await home.start('run fields --listen 127.0.0.1:0 --health 127.0.0.1:0', env);
  const line = await waitFor('the start-up line', () => /.*"listening".*/.exec(child.logs())?.[0]);
  const ready = await http(`http://${JSON.parse(line).health}/readyz`);
  assert.is(ready.status, 503);
  assert.match(ready.text, /vault/);
  assert.is((await child.end('SIGTERM')).code, 0);
});

test('is completed with the others', async () => {
  const { stdout } = await home.svc('completion bash');
  assert.match(stdout, /'run fields'\) printf '%s\\n' .*--mount/);
});

test('is gone after it was uninstalled', async () => {
  const { status, stderr } = await home.svc('plugins uninstall svc-plugin-fields');
  assert.is(status, 0, stderr);
  assert.not.match((await home.svc('run')).stdout, /fields/);
  assert.is((await home.svc('run fields', vault())).status, 2);
});

test('is installed from its tarball, and linked from its folder, without any registry', async () => {
  const installed = await home.svc(`plugins install file:${sample.tarball}`);
  assert.is(installed.status, 0, installed.stderr);
  assert.is((await home.svc('fields app', vault())).stdout, 'password\nuser\n');
  await home.svc('plugins uninstall svc-plugin-fields');
  const linked = await home.svc(`plugins link --no-install ${sample.folder}`);
  assert.is(linked.status, 0, linked.stderr);
  assert.is((await home.svc('fields app', vault())).stdout, 'password\nuser\n');
});

test.run();
