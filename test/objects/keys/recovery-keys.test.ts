import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readRecoveryKeys } from '../../../src/objects/keys/recovery-keys.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

const test = suite<{ folder: TemporaryFolder }>('files of recovery keys');

test.before.each((context) => {
  context.folder = temporaryFolder('recovery-keys');
});
test.after.each(({ folder }) => folder.remove());

const scalar = () => {
  const { d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return Buffer.from(d, 'base64url');
};

const refusal = (path: string): string => {
  try {
    readRecoveryKeys(path);
    return 'read';
  } catch (error) {
    return String((error as Error).message);
  }
};

test('a key comes from a pipe as from a file', ({ folder }) => {
  const [file, pipe] = [join(folder.path, 'key'), join(folder.path, 'pipe')];
  writeFileSync(file, scalar());
  assert.is(spawnSync('mkfifo', [pipe]).status, 0);
  spawn('sh', ['-c', 'exec cat "$0" > "$1"', file, pipe], { stdio: 'ignore' });
  const [piped, filed] = [readRecoveryKeys(pipe), readRecoveryKeys(file)];
  assert.is(piped.length, 1);
  assert.ok(piped[0]?.equals(filed[0] as (typeof filed)[0]));
});

test('what is longer than any file of keys is refused, also where it never ends', ({ folder }) => {
  const file = join(folder.path, 'long');
  writeFileSync(file, Buffer.alloc(64 * 1024 + 1));
  for (const path of [file, '/dev/zero']) assert.match(refusal(path), /too large/);
  writeFileSync(file, '');
  assert.match(refusal(file), /does not hold X25519 private keys/);
  assert.match(refusal(folder.path), /EISDIR/);
});

test.run();
