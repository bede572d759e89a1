import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../../cli/support/svc.ts';
import { go, requireGo } from '../../support/go.ts';
import type { WrapperRun } from '../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Bed, startBed } from './support/bed.ts';

await requireGo();
await ensureBuilt();

const folder = temporaryFolder('wrapped-demo');
const goDemo = `${folder.path}/demo`;
const languages = {
  TypeScript: [process.execPath, fileURLToPath(new URL('../../../dist/sdk/demo.js', import.meta.url))],
  Go: [goDemo],
} as const;

const demo = suite('demo servers under the wrapper');
let bed: Bed;

demo.before(async () => {
  await go(['build', '-o', goDemo, './cmd/demo']);
  bed = await startBed();
});
demo.after.each(() => bed?.endRuns());
demo.after(async () => {
  await bed?.stop();
  await folder.remove();
});

const data = {
  DB_PASSWORD: 'correct horse',
  EIGHT: '12345678',
  EMPTY: '',
  NINE: '123456789',
  NUMBER: 1234567890,
  UNICODE: 'äöüß€ "\\ 🗝🗝🗝',
};
const names = Object.keys(data);
/** As docs/SDK.md has it: the first and last two characters of more than eight, none of others. */
const masked = ['co****se', '****', '', '12****89', '12****90', 'äö****🗝🗝'];
const loopback = { HOST: '127.0.0.1', PORT: '0', RENEWAL_INTERVAL: '1s' };

interface Served {
  readonly run: WrapperRun;
  /** Of the demo that listened last. */
  url(): string;
  get(path: string, method?: string): Promise<[status: number, type: string | null, body: string]>;
}

/** Both demos under a wrapper each, with the secret at that path. */
function serveBoth(path: string, env: Record<string, string>): Promise<Served[]> {
  return Promise.all(
    Object.values(languages).map(async (command) => {
      const run = await bed.run({ paths: [`secret/${path}`], command, env: { ...loopback, ...env } });
      await run.says(/^demo: listening on/m);
      const url = () => `http://${[...run.output().matchAll(/^demo: listening on (\S+),/gm)].at(-1)?.[1]}`;
      return {
        run,
        url,
        async get(path, method = 'GET') {
          const response = await fetch(url() + path, { method });
          return [response.status, response.headers.get('content-type'), await response.text()];
        },
      };
    }),
  );
}

/** What both answer, which must be the same to the byte. */
async function sameAnswer(both: readonly Served[], path: string, method?: string): Promise<[number, string]> {
  const [first, second] = await Promise.all(both.map((served) => served.get(path, method)));
  assert.equal(first, second, `${method ?? 'GET'} ${path}`);
  assert.is(first?.[1], 'application/json');
  return [first?.[0] ?? 0, first?.[2] ?? ''];
}

async function answers(both: readonly Served[], path: string): Promise<unknown> {
  const [status, body] = await sameAnswer(both, path);
  assert.is(status, 200);
  return JSON.parse(body);
}

const shownValue = async (both: readonly Served[], key: string): Promise<string | undefined> => {
  const { secrets } = (await answers(both, '/protected')) as { secrets: { key: string; value: string }[] };
  return secrets.find((secret) => secret.key === key)?.value;
};

async function assertDocumented(both: readonly Served[], delivery: string): Promise<void> {
  assert.equal(await answers(both, '/'), { keys: names, count: names.length });
  assert.equal(await answers(both, '/health'), { status: 'ok', delivery });
  const secrets = names.map((key, at) => ({ key, available: true, value: masked[at] }));
  assert.equal(await answers(both, '/protected'), { secrets });
}

const environOf = (served: Served): string =>
  readFileSync(`/proc/${served.run.events('application.started').at(-1)?.['pid']}/environ`, 'utf8');

demo('SVC_DELIVERY=fd: names and masked values come from the descriptor alone', async () => {
  await bed.kv.put('demo-fd', data);
  const both = await serveBoth('demo-fd', { SVC_DELIVERY: 'fd' });
  await assertDocumented(both, 'memfd_secret');
  for (const served of both) {
    assert.match(environOf(served), 'SVC_SECRET_FD=');
    assert.not.match(environOf(served), /correct horse|DB_PASSWORD|123456789/);
  }
  assert.equal(await sameAnswer(both, '/other'), [404, '{"error":"not found"}\n']);
  assert.equal(await sameAnswer(both, '/', 'POST'), [405, '{"error":"method not allowed"}\n']);
  assert.equal(await sameAnswer(both, '/protected?x=1'), await sameAnswer(both, '/protected'));
});

demo('SVC_DELIVERY=both: the descriptor is preferred, the environment has them too', async () => {
  await bed.kv.put('demo-both', data);
  const both = await serveBoth('demo-both', {});
  await assertDocumented(both, 'memfd_secret');
  for (const served of both) assert.match(environOf(served), 'DB_PASSWORD=correct horse');
});

demo('SVC_DELIVERY=env: what DEMO_KEYS names comes from the environment', async () => {
  await bed.kv.put('demo-env', data);
  const DEMO_KEYS = [...names, 'MISSING'].join(',');
  const both = await serveBoth('demo-env', { SVC_DELIVERY: 'env', DEMO_KEYS });
  const available = names.filter((name) => name !== 'EMPTY');
  assert.equal(await answers(both, '/'), { keys: available, count: available.length });
  assert.equal(await answers(both, '/health'), { status: 'ok', delivery: 'env_vars' });
  const secrets = [...names, 'MISSING'].map((key, at) => ({
    key,
    available: available.includes(key),
    value: masked[at] ?? '',
  }));
  assert.equal(await answers(both, '/protected'), { secrets });
});

demo('sighup: both see a new version without a restart', async () => {
  await bed.kv.put('demo-sighup', { KEY: 'the first value' });
  const both = await serveBoth('demo-sighup', { SVC_DELIVERY: 'fd', SVC_ROTATION: 'sighup' });
  assert.is(await shownValue(both, 'KEY'), 'th****ue');
  await bed.kv.put('demo-sighup', { KEY: 'a second one', MORE: 'another secret' });
  for (const { run } of both) await run.says(/^demo: secrets were renewed$/m);
  assert.is(await shownValue(both, 'KEY'), 'a ****ne');
  assert.equal(await answers(both, '/'), { keys: ['KEY', 'MORE'], count: 2 });
  await bed.kv.put('demo-sighup', { KEY: 'and a third' });
  await waitFor('the third', async () => (await shownValue(both, 'KEY')) === 'an****rd');
  for (const { run } of both) assert.is(run.events('application.started').length, 1);
});

demo('restart: both have a new version after it, by the environment', async () => {
  await bed.kv.put('demo-restart', { KEY: 'the first value' });
  const env = { SVC_DELIVERY: 'env', SVC_ROTATION: 'restart', DEMO_KEYS: 'KEY' };
  const both = await serveBoth('demo-restart', env);
  assert.is(await shownValue(both, 'KEY'), 'th****ue');
  await bed.kv.put('demo-restart', { KEY: 'a second one' });
  for (const { run } of both) await run.says(/(?:^demo: listening[\s\S]*){2}/m);
  assert.is(await shownValue(both, 'KEY'), 'a ****ne');
});

demo('SIGTERM to the wrapper ends both well, with 0', async () => {
  await bed.kv.put('demo-end', { KEY: 'value' });
  for (const { run } of await serveBoth('demo-end', { SVC_DELIVERY: 'fd' })) {
    run.signal('SIGTERM');
    assert.equal(await run.exited, { code: 0, signal: null });
  }
});

demo.run();
