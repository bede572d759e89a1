import { createServer } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { type Loopback, listen } from '../../../support/loopback.ts';
import type { WrapperRun } from '../../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type Bed, shown, startBed } from '../support/bed.ts';
import { type Exploit, exploitsOn } from './exploits.ts';

const steering = suite('fields whose names steer programs');
const folder = temporaryFolder('steering');
let proxy: Loopback;
let bed: Bed;
let exploits: readonly Exploit[];

steering.before(async () => {
  proxy = await listen(createServer((_, response) => response.end('PWNED')));
  bed = await startBed();
  exploits = await exploitsOn({
    folder: folder.path,
    proxy: proxy.url,
    server: bed.bao.url,
    authority: bed.bao.caFile as string,
  });
});
steering.after.each(() => bed?.endRuns());
steering.after(async () => {
  await bed?.stop();
  await proxy?.stop();
  await folder.remove();
});

/** Two at a time: that is what the machine has. */
async function each<T>(items: readonly T[], work: (item: T, at: number) => Promise<void>): Promise<void> {
  const queue = items.entries();
  const worker = async () => {
    for (const [at, item] of queue) await work(item, at);
  };
  await Promise.all([worker(), worker()]);
}

/** What the command does when the secret's fields are its variables. */
async function outputOf({ fields, command }: Exploit, name: string, map: string | undefined) {
  await bed.kv.put(name, fields);
  const run = await bed.run({ paths: [`secret/${name}`], command, env: { SVC_ENV_MAP: map } });
  const { code } = await run.exited;
  return { code, output: run.output(), events: run.events() };
}

/** As no map can name a function of bash, that one is judged under its own name only. */
const mappable = ({ fields }: Exploit) => Object.keys(fields).every((name) => /^\w+$/.test(name));
const identity = (fields: object) =>
  Object.keys(fields)
    .map((name) => `${name}=${name}`)
    .join(',');

steering('work where the deployment maps them: what is refused below is no theory', () =>
  each(exploits.filter(mappable), async (exploit, at) => {
    const { output } = await outputOf(exploit, `mapped-${at}`, identity(exploit.fields));
    assert.match(output, exploit.evidence, JSON.stringify(exploit.fields));
  }),
);

steering('are refused under their own names, and nothing is started', () =>
  each(exploits, async (exploit, at) => {
    const { code, output, events } = await outputOf(exploit, `own-${at}`, undefined);
    const what = JSON.stringify(exploit.fields);
    assert.is(code, 78, `${what} ${output}`);
    assert.not.match(output, exploit.evidence, what);
    assert.not(events.some(({ event }) => event === 'application.started'));
    for (const name of Object.keys(exploit.fields))
      assert.ok(output.includes(`secret/own-${at}, field \\"${name}\\"`), `${name}: ${output}`);
  }),
);

steering('all are named at once, with path and field, beside every other error', async () => {
  await bed.kv.put('one', { LD_PRELOAD: 'x', https_PROXY: 'x', SVC_ROTATION: 'x', VAULT_ADDR: 'x', ok: 'x' });
  await bed.kv.put('two', { NODE_OPTIONS: 'x', 'a=b': 'x', NODE_ENV: 'production' });
  const run = await bed.run({ paths: ['secret/one', 'secret/two'] });
  assert.is((await run.exited).code, 78);
  const [failure] = run.events('start.failed');
  assert.is(failure?.['code'], 'SECRETS_UNUSABLE');
  const named = [...JSON.stringify(failure?.['details']).matchAll(/(secret\/\w+), field \\+"(.*?)\\+"/g)];
  assert.equal(named.map(([, path, field]) => `${path} ${field}`).sort(), [
    ...[
      'secret/one LD_PRELOAD',
      'secret/one SVC_ROTATION',
      'secret/one VAULT_ADDR',
      'secret/one https_PROXY',
    ],
    ...['secret/two NODE_OPTIONS', 'secret/two a=b'],
  ]);
  assert.match(failure?.['nextStep'], 'SVC_ENV_MAP');
});

/** Of programs that are not in the test bed; each is in its manual as a command, a module, a library, an authority or an address. */
const byTheirManuals = `
  APT_CONFIG AWS_PAGER AWS_EC2_METADATA_SERVICE_ENDPOINT AZURE_AUTHORITY_HOST BORG_PASSCOMMAND CAMLRUNPARAM
  CARGO_ENCODED_RUSTFLAGS DBUS_SESSION_BUS_ADDRESS ESBUILD_BINARY_PATH FLASK_APP FZF_DEFAULT_COMMAND GDK_PIXBUF_MODULE_FILE
  GNUPGHOME GOAUTH GRPC_DEFAULT_SSL_ROOTS_FILE_PATH GUNICORN_CMD_ARGS HGRCPATH JAVACMD JRUBY_OPTS KAFKA_HEAP_OPTS
  KUBECTL_EXTERNAL_DIFF LOG4J_CONFIGURATION_FILE MAGICK_CONFIGURE_PATH MANOPT MIX_ARCHIVES NAPI_RS_NATIVE_LIBRARY_PATH
  NEW_RELIC_HOME NIS_PATH PKCS11_MODULE_PATH PRISMA_QUERY_ENGINE_LIBRARY PSModulePath PUPPETEER_EXECUTABLE_PATH
  PYTEST_ADDOPTS RABBITMQ_CONF_ENV_FILE RCLONE_PASSWORD_COMMAND RELEASE_VM_ARGS RESTIC_PASSWORD_COMMAND RUSTUP_TOOLCHAIN
  SOCKS_PROXY STORAGE_EMULATOR_HOST SYSTEMD_PAGER TF_CLI_CONFIG_FILE TZDIR UWSGI_EXEC_PRE_APP VALGRIND_OPTS XDEBUG_CONFIG
  grpc_proxy EMACSLOADPATH FFMPEG_PATH FLASK_DEBUG HBASE_OPTS IMAGEIO_FFMPEG_EXE NVTX_INJECTION64_PATH OMP_TOOL_LIBRARIES
  SWC_BINARY_PATH UVICORN_APP_DIR VIMRUNTIME LOADER_PATH COB_PRE_LOAD AIRFLOW__CORE__FERNET_KEY_CMD GTK3_MODULES
`
  .trim()
  .split(/\s+/);
const ofApplications =
  'RABBITMQ_PASSWORD KAFKA_PASSWORD FLASK_SECRET_KEY RESTIC_PASSWORD RELEASE_COOKIE PGPASSWORD AIRFLOW__CORE__FERNET_KEY';

steering(
  'names by which programs beyond the test bed are steered, and such as only hold a secret',
  async () => {
    const named = [...byTheirManuals, ...ofApplications.split(' ')];
    await bed.kv.put('manuals', Object.fromEntries(named.map((name) => [name, 'x'])));
    const run = await bed.run({ paths: ['secret/manuals'] });
    assert.is((await run.exited).code, 78);
    const [failure] = run.events('start.failed');
    const refused = [...JSON.stringify(failure?.['details']).matchAll(/field \\+"(.*?)\\+"/g)];
    assert.equal(refused.map(([, field]) => field).sort(), byTheirManuals.toSorted());
  },
);

steering('a field that is left out, or mapped to another name, may have any', async () => {
  await bed.kv.put('left', { LD_PRELOAD: '/none', BASH_ENV: 'x', KEY: 'one' });
  const env = { SVC_ENV_MAP: 'KEY=KEY,BASH_ENV=OTHER', SVC_ENV_MAP_ONLY: 'true' };
  const run = await bed.run({ paths: ['secret/left'], env });
  assert.equal((await shown(run)).descriptor, { KEY: 'one', OTHER: 'x' });
});

steering('SVC_DELIVERY=fd: keys of the descriptor steer nothing, and none becomes a variable', async () => {
  await bed.kv.put('keys', { LD_PRELOAD: '/none', PATH: '/none' });
  const env = { SVC_DELIVERY: 'fd', SHOWN: 'LD_PRELOAD,PATH' };
  const { descriptor, env: seen } = await shown(await bed.run({ paths: ['secret/keys'], env }));
  assert.equal(descriptor, { LD_PRELOAD: '/none', PATH: '/none' });
  assert.equal([seen['LD_PRELOAD'], seen['PATH']], [null, process.env['PATH']]);
});

for (const rotation of ['restart', 'sighup'])
  steering(
    `one that appears later is not delivered under ${rotation}: the application keeps what it has`,
    async () => {
      const name = `later-${rotation}`;
      await bed.kv.put(name, { KEY: 'one' });
      const env = { RENEWAL_INTERVAL: '1s', SVC_ROTATION: rotation, SHOWN: 'KEY,NODE_OPTIONS' };
      const run = await bed.run({ paths: [`secret/${name}`], env });
      const before = await shown(run);
      await bed.kv.put(name, {
        KEY: 'two',
        NODE_OPTIONS: '--import=data:text/javascript,console.log(/PWNED/)',
      });
      const failed = await run.event('secrets.keep.failed');
      assert.match(failed['error'], `secret/${name}, field "NODE_OPTIONS"`);
      const { status, json } = await healthWhere(run, 'degraded'); // a worker's pages follow its log
      assert.is(status, 200);
      assert.match(json.degraded.secrets, 'NODE_OPTIONS');
      assert.is(run.events('application.started').length, 1);
      assert.not.match(run.output(), PWNED);
      await bed.kv.put(name, { KEY: 'three' });
      assert.equal((await shown(run, 2)).descriptor, { KEY: 'three' });
      await healthWhere(run, 'ok');
      assert.is(before.env['KEY'], 'one');
    },
  );

const PWNED = /PWNED/;

async function healthWhere(run: WrapperRun, status: string) {
  const health = await run.health();
  return waitFor(`health ${status}`, async () => {
    const answer = await http(`${health}/healthz`);
    return answer.json.status === status && answer;
  });
}

steering.run();
