import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canWrite } from '../../../src/runtime/native/sockets.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const poll = suite('asking whether a write would wait');
const folder = temporaryFolder('poll');
const fifo = join(folder.path, 'fifo');
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

poll.before(() => void execFileSync('mkfifo', [fifo]));
poll.after(() => folder.remove());

poll('a pipe takes a page until it is full, and again once a page was read', () => {
  const reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  const writer = openSync(fifo, O_WRONLY | O_NONBLOCK);
  let written = 0;
  while (canWrite(writer)) written += writeSync(writer, Buffer.alloc(4096));
  assert.throws(() => writeSync(writer, 'x'), /EAGAIN/);
  assert.ok(written >= 4096);
  readSync(reader, Buffer.alloc(4096));
  assert.ok(canWrite(writer));
  closeSync(reader);
  assert.ok(canWrite(writer), 'a write fails at once where nobody reads');
  closeSync(writer);
});

poll('a file takes anything, and a descriptor that is not open fails at once', () => {
  const file = openSync(join(folder.path, 'file'), 'w');
  assert.ok(canWrite(file));
  closeSync(file);
  assert.ok(canWrite(file));
});

poll.run();
