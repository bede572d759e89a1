import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dockerTarget } from './dockerfile.ts';

const test = suite('what a target of manifests/Dockerfile comes to');

test('each variable of an instruction that sets several', () => {
  const { env } = dockerTarget('operator');
  for (const variable of ['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=65536', 'NODE_ENV=production'])
    assert.ok(env.includes(variable), `${variable} of ${env}`);
});

test('the last user and command, of its own or of the stage that it is built from', () => {
  const { user, cmd, entrypoint } = dockerTarget('agent');
  assert.is(user, '0:0');
  assert.equal(cmd, ['run', 'agent']);
  assert.is(entrypoint[0], '/usr/local/bin/node');
});

test.run();
