import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fakeKeyServer } from './fake-key-server.ts';

const test = suite('node-vault under DEBUG');
const program = fileURLToPath(new URL('fixtures/node-vault-call.ts', import.meta.url));

test('writes neither tokens nor bodies, whatever is to be debugged', async () => {
  const server = await fakeKeyServer(() => ({
    status: 200,
    json: { data: { ciphertext: 'an-answer-to-keep' } },
  }));
  for (const pattern of ['node-vault', 'node-vault*', '*']) {
    const env = { ...process.env, DEBUG: pattern, DEBUG_DEPTH: '10' };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, server.url.href], {
      env,
    });
    assert.is(stdout, '200\n');
    assert.not.match(stderr, /to-keep/);
  }
  assert.is(server.seen[0]?.json.plaintext, 'a-key-to-keep');
  await server.stop();
});

test.run();
