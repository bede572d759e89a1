import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeGeneration } from '../../src/runtime/protocols/secret-records/region-writer.ts';
import { go, requireGo } from '../support/go.ts';
import { entriesOf, regionWith } from '../support/secret-region.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Inheritor, inherit } from '../support/with-descriptor.ts';

type Command = readonly [string, ...string[]];

await requireGo();
const folder = temporaryFolder('demo');
const goDemo = `${folder.path}/demo`;
await go(['build', '-o', goDemo, './cmd/demo']);
const demos: Record<string, Command> = {
  TypeScript: [process.execPath, fileURLToPath(new URL('../../src/sdk/demo.ts', import.meta.url))],
  Go: [goDemo],
};
const loopback = { HOST: '127.0.0.1', PORT: '0' };

const running = new Set<Demo>();

interface Demo extends Inheritor {
  readonly url: string;
}

async function started(
  command: Command,
  descriptor?: number,
  env: Record<string, string> = {},
): Promise<Demo> {
  const inheritor = await inherit(command, descriptor, { ...loopback, ...env });
  const [, address] = await waitFor(
    'the demo to listen',
    () => /listening on (\S+),/.exec(inheritor.output()),
    {
      details: inheritor.errors,
    },
  );
  const demo = { ...inheritor, url: `http://${address}` };
  running.add(demo);
  return demo;
}

async function answer(demo: Demo, path: string, method = 'GET'): Promise<[number, unknown]> {
  const response = await fetch(demo.url + path, { method });
  assert.is(response.headers.get('content-type'), 'application/json');
  return [response.status, await response.json()];
}

async function end(demo: Demo, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  demo.child.kill(signal);
  assert.equal(await demo.exited, { code: 0, signal: null }, demo.errors());
}

const test = suite('sdk demo servers');

for (const [language, command] of Object.entries(demos)) {
  test(`${language}: under the wrapper names and masked values come from the descriptor`, async () => {
    const region = regionWith([
      ['DB_PASSWORD', 'correct horse'],
      ['PIN', '12345678'],
      ['EMPTY', ''],
      ['NAME', 'äöüßäöüß€'],
    ]);
    const demo = await started(command, region.descriptor, {
      DEMO_KEYS: 'PIN, MISSING',
      MISSING: 'environment',
    });
    const keys = ['DB_PASSWORD', 'PIN', 'EMPTY', 'NAME'];
    assert.equal(await answer(demo, '/'), [200, { keys, count: 4 }]);
    assert.equal(await answer(demo, '/health?x=1'), [200, { status: 'ok', delivery: 'memfd_secret' }]);
    const secrets = [
      { key: 'DB_PASSWORD', available: true, value: 'co****se' },
      { key: 'PIN', available: true, value: '****' },
      { key: 'EMPTY', available: true, value: '' },
      { key: 'NAME', available: true, value: 'äö****ß€' },
      { key: 'MISSING', available: false, value: '' },
    ];
    assert.equal(await answer(demo, '/protected'), [200, { secrets }]);
    const environment = readFileSync(`/proc/${demo.child.pid}/environ`, 'utf8');
    assert.not.match(environment, 'correct horse');
    await end(demo);
    region.release();
  });

  test(`${language}: renewed secrets are served after SIGHUP`, async () => {
    const region = regionWith([['KEY', 'the first value']]);
    const demo = await started(command, region.descriptor);
    writeGeneration(region.bytes, entriesOf([['KEY', 'a second one']]));
    demo.child.kill('SIGHUP');
    await waitFor('the demo to notice', () => demo.output().includes('renewed'));
    const secrets = [{ key: 'KEY', available: true, value: 'a ****ne' }];
    assert.equal(await answer(demo, '/protected'), [200, { secrets }]);
    await end(demo, 'SIGINT');
    region.release();
  });

  test(`${language}: without the wrapper the environment answers for DEMO_KEYS`, async () => {
    const demo = await started(command, undefined, {
      DEMO_KEYS: 'TOKEN,,GONE',
      TOKEN: 'from the environment',
    });
    assert.equal(await answer(demo, '/'), [200, { keys: ['TOKEN'], count: 1 }]);
    assert.equal(await answer(demo, '/health'), [200, { status: 'ok', delivery: 'env_vars' }]);
    const secrets = [
      { key: 'TOKEN', available: true, value: 'fr****nt' },
      { key: 'GONE', available: false, value: '' },
    ];
    assert.equal(await answer(demo, '/protected'), [200, { secrets }]);
    await end(demo);
  });

  test(`${language}: other paths and methods are refused`, async () => {
    const demo = await started(command);
    assert.equal(await answer(demo, '/'), [200, { keys: [], count: 0 }]);
    assert.equal(await answer(demo, '/other'), [404, { error: 'not found' }]);
    assert.equal(await answer(demo, '/', 'POST'), [405, { error: 'method not allowed' }]);
    await end(demo);
  });

  test(`${language}: a wrong port or descriptor ends it with 78 and says why`, async () => {
    for (const [name, value] of [
      ['PORT', 'http'],
      ['PORT', '65536'],
      ['SVC_SECRET_FD', 'abc'],
    ] as const) {
      const demo = await inherit(command, undefined, { ...loopback, [name]: value });
      assert.is((await demo.exited).code, 78);
      assert.match(demo.errors(), `${name}="${value}"`);
    }
  });
}

test.after.each(() => {
  for (const { child } of running) child.kill('SIGKILL');
  running.clear();
});
test.after(() => folder.remove());
test.run();
