import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wrapperSettings } from '../../src/plugins/wrapper/settings.ts';
import { waitFor } from '../support/wait-for.ts';
import { findSecrets } from './support/search.ts';
import { descriptorsOf, startWrapped, type Wrapped } from './support/wrapped.ts';

const test = suite('what the application inherits');
let world: Wrapped;

test.before(async () => {
  world = await startWrapped();
  await world.write('app');
});
test.after(() => world?.stop());

interface Inherited {
  readonly names: readonly string[];
  readonly environ: Buffer;
  readonly descriptors: Record<string, string>;
}

async function inherited(env: Record<string, string>): Promise<Inherited> {
  const { addr, env: way } = world.reach('mTLS broker');
  const kubernetes = world.kubernetes;
  const vault = {
    addr,
    ...(env['BY'] === 'kubernetes' ? { kubernetes } : { token: await world.kv.token() }),
  };
  const run = await world.run(vault, { paths: ['secret/app'], env: { ...way, ...env, SVC_POD_UID: 'u' } });
  await run.says(/RUN/);
  const pid = env['SVC_EXEC'] ? run.pid : (await run.event('application.started'))['pid'];
  // before that its loader has libraries open
  await waitFor('sleep', () => readFileSync(`/proc/${pid}/wchan`, 'utf8').endsWith('nanosleep'));
  const environ = readFileSync(`/proc/${pid}/environ`);
  const names = environ
    .toString('latin1')
    .split('\0')
    .map((one) => one.replace(/=.*/s, ''));
  return { names, environ, descriptors: descriptorsOf(pid) };
}

const own = new Set(Object.values(wrapperSettings).map(({ variable }) => variable));

for (const exec of [false, true])
  for (const by of ['token', 'kubernetes'])
    for (const delivery of ['both', 'fd', 'env'])
      test(`${exec ? 'after exec' : 'as a child'}, ${by}, SVC_DELIVERY=${delivery}: no configuration, no token, no other descriptor`, async () => {
        const env = { SVC_DELIVERY: delivery, BY: by, ...(exec ? { SVC_EXEC: 'true' } : {}) };
        const { names, environ, descriptors } = await inherited(env);
        assert.equal(
          names.filter((name) => own.has(name)),
          [],
        );
        assert.ok(names.includes('BY') && names.includes('HOME'), 'what is not its own is passed on');
        const number = /\0SVC_SECRET_FD=(\d+)\0/.exec(environ.toString('latin1'))?.[1];
        assert.is(number === undefined, delivery === 'env');
        const expected = ['0', '1', '2', ...(number === undefined ? [] : [number])];
        assert.equal(Object.keys(descriptors).sort(), expected.sort());
        if (number !== undefined) assert.match(descriptors[number] ?? '', /secretmem/);
        const tokens = world.secrets('none');
        assert.ok(tokens.length > 0);
        assert.equal(findSecrets(tokens, [{ name: 'environ', bytes: environ }]), []);
        const values = findSecrets(world.secrets('app'), [{ name: 'environ', bytes: environ }]);
        assert.is(values.length > 0, delivery !== 'fd');
      });

test.run();
