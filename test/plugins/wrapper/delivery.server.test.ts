import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../support/temporary.ts';
import { type Bed, shown, startBed } from './support/bed.ts';

const delivery = suite('delivery of secrets');
let bed: Bed;

delivery.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { PASSWORD: 'correct horse', EMPTY: '', UNICODE: 'ключ "é" \\ \n ✓' });
  await bed.kv.put('typed', {
    number: 42,
    yes: true,
    nothing: null,
    list: [1, 'a'],
    object: { b: { c: 1 } },
  });
  await bed.kv.put('team/db', { user: 'dbuser', password: 'dbpass' });
  await bed.kv.putV1('old', { LEGACY: 'version one' });
});
delivery.after.each(() => bed?.endRuns());
delivery.after(() => bed?.stop());

const app = { PASSWORD: 'correct horse', EMPTY: '', UNICODE: 'ключ "é" \\ \n ✓' };

delivery('gives every field in the environment and in the descriptor', async () => {
  const run = await bed.run({ env: { SHOWN: 'PASSWORD,EMPTY,UNICODE' } });
  const { env, descriptor } = await shown(run);
  assert.equal([env, descriptor], [app, app]);
});

delivery(
  'logs in by Kubernetes, by a token file and by a token, and takes the file before the token',
  async () => {
    const folder = temporaryFolder('token-file');
    const tokenFile = join(folder.path, 'token');
    writeFileSync(tokenFile, `${await bed.kv.token()}\n`);
    const server = { addr: bed.bao.url, caFile: bed.bao.caFile };
    const vaults = [bed.withKubernetes, await bed.withToken(), { ...server, tokenFile, token: 's.wrong' }];
    for (const vault of vaults) {
      const run = await bed.run({ vault });
      assert.is((await shown(run)).descriptor['PASSWORD'], 'correct horse');
    }
    await folder.remove();
  },
);

delivery('reads versions 1 and 2 of KV by either form of a path', async () => {
  const paths = ['secret/data/app', 'secret/team/db', 'kv1/old'];
  const run = await bed.run({ paths });
  const { descriptor } = await shown(run);
  assert.equal(descriptor, { ...app, user: 'dbuser', password: 'dbpass', LEGACY: 'version one' });
});

delivery('delivers what is no text as JSON', async () => {
  const run = await bed.run({ paths: ['secret/typed'] });
  const { descriptor } = await shown(run);
  const expected = { number: '42', yes: 'true', nothing: 'null', list: '[1,"a"]', object: '{"b":{"c":1}}' };
  assert.equal(descriptor, expected);
});

delivery('names mapped fields as the map says, and leaves the others out where it is told so', async () => {
  const map = { SVC_ENV_MAP: 'user=DB_USER;LEGACY=OLD', SHOWN: 'DB_USER,user,password,OLD' };
  const paths = ['secret/team/db', 'kv1/old'];
  const some = await shown(await bed.run({ paths, env: map }));
  assert.equal(some.env, { DB_USER: 'dbuser', user: null, password: 'dbpass', OLD: 'version one' });
  const only = await shown(await bed.run({ paths, env: { ...map, SVC_ENV_MAP_ONLY: 'true' } }));
  assert.equal(only.descriptor, { DB_USER: 'dbuser', OLD: 'version one' });
});

delivery('SVC_DELIVERY=fd keeps every secret out of the environment of the application', async () => {
  const run = await bed.run({ env: { SVC_DELIVERY: 'fd' } });
  const { pid, descriptor } = await shown(run);
  assert.equal(descriptor, app);
  const environ = readFileSync(`/proc/${pid}/environ`);
  for (const secret of ['PASSWORD', 'correct horse', 'ключ']) assert.not.ok(environ.includes(secret), secret);
  assert.ok(environ.includes('SVC_SECRET_FD='), 'the environment was read');
});

delivery('SVC_DELIVERY=env gives no descriptor', async () => {
  const run = await bed.run({ env: { SVC_DELIVERY: 'env', SHOWN: 'PASSWORD,SVC_SECRET_FD' } });
  const { env, descriptor } = await shown(run);
  assert.equal([env, descriptor], [{ PASSWORD: 'correct horse', SVC_SECRET_FD: null }, {}]);
});

delivery(
  'passes the configuration and the token to nobody, and what it does not know to the application',
  async () => {
    const own = 'VAULT_ADDR,VAULT_TOKEN,SVC_SECRET_PATHS,SVC_ROTATION,HEALTH_ADDR,VAULT_CACERT';
    const foreign = { SVC_PORT: '8', SVC_API_SERVICE_HOST: '10.0.0.1', VAULT_OTHER: 'x' };
    const SHOWN = `${own},${Object.keys(foreign).join(',')}`;
    const run = await bed.run({ env: { ...foreign, SHOWN, SVC_ROTATION: 'none' } });
    const { pid, env } = await shown(run);
    assert.equal(env, { ...Object.fromEntries(own.split(',').map((name) => [name, null])), ...foreign });
    const [first = ''] = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    assert.match(first, /^SVC_WRAPPED=-+$/, 'setproctitle tricks expose the first string: it holds nothing');
  },
);

delivery('a secret takes the place of an inherited variable, and that is told by name', async () => {
  const run = await bed.run({ env: { PASSWORD: 'inherited', SHOWN: 'PASSWORD' } });
  assert.is((await shown(run)).env['PASSWORD'], 'correct horse');
  assert.equal((await run.event('secrets.replace.inherited'))['names'], ['PASSWORD']);
});

delivery('starts the command of the variables where none stands behind --', async () => {
  const [file = '', fixture = ''] = bed.application;
  const args = [fixture, 'a,b', 'c\\d', ''].map((one) => one.replace(/[\\,]/g, '\\$&')).join(',');
  const run = await bed.run({ command: undefined, env: { SVC_ORIGINAL_CMD: file, SVC_ORIGINAL_ARGS: args } });
  assert.equal((await shown(run)).argv, ['a,b', 'c\\d', '']);
});

delivery('--secrets wins over SVC_SECRET_PATHS, and -- over SVC_ORIGINAL_CMD', async () => {
  const env = { SVC_SECRET_PATHS: 'secret/none', SVC_ORIGINAL_CMD: '/bin/false' };
  const run = await bed.run({ args: ['--secrets=secret/team/db'], env });
  assert.equal((await shown(run)).descriptor, { user: 'dbuser', password: 'dbpass' });
});

delivery.run();
