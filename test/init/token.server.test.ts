import { spawn } from 'node:child_process';
import { closeSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeLaunch } from '../../src/plugins/wrapper/init/launch-region.ts';
import { recordKind } from '../../src/plugins/wrapper/init/records.ts';
import {
  type ReceivedRecord,
  receiveRecord,
  recordSocketPair,
  sendRecord,
} from '../../src/runtime/native/record-channel.ts';
import { createSecretMemory } from '../../src/runtime/native/secret-memory.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';

const test = suite('svc-init and the service account token');
const folder = temporaryFolder('init-token');
const init = fileURLToPath(new URL(`../../dist/init/${process.arch}/svc-init`, import.meta.url));

test.after(() => folder.remove());

/** svc-init with an application that sleeps; who holds the other end is its wrapper. */
function start(tokenPath: string) {
  const [socket, theirs] = recordSocketPair();
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  sendRecord(socket, { kind: recordKind.settings, values: [1_000, 60_000] });
  const argv = ['/bin/sleep', '600'];
  const region = writeLaunch({ file: '/bin/sleep', argv, env: [] }, memory);
  const values = [region.length, argv.length, 0];
  sendRecord(socket, { kind: recordKind.start, values }, region.descriptor);
  region.handOver();
  const child = spawn(init, ['3', '', tokenPath, '/bin/false', '/bin/false'], {
    stdio: ['ignore', 'ignore', 'ignore', theirs],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const answer = async (kind: number): Promise<ReceivedRecord> => {
    let record: ReceivedRecord | undefined;
    await waitFor(`a record of kind ${kind}`, () => {
      record = receiveRecord(socket);
      return record?.kind === kind;
    });
    return record as ReceivedRecord;
  };
  return {
    async token(): Promise<string | undefined> {
      sendRecord(socket, { kind: recordKind.token });
      const { descriptor } = await answer(recordKind.token);
      if (descriptor === undefined) return undefined;
      const text = readFileSync(descriptor, 'utf8');
      closeSync(descriptor);
      return text;
    },
    started: () => answer(recordKind.started),
    async stop() {
      child.kill('SIGKILL');
      await ended;
      for (const descriptor of [socket, theirs]) closeSync(descriptor);
    },
  };
}

test('it opens the file anew each time that a worker asks, and answers without one where it cannot', async () => {
  const path = join(folder.path, 'token');
  writeFileSync(path, 'first');
  const run = start(path);
  try {
    await run.started();
    assert.is(await run.token(), 'first');
    writeFileSync(`${path}.new`, 'second');
    renameSync(`${path}.new`, path);
    assert.is(await run.token(), 'second');
    renameSync(path, `${path}.gone`);
    assert.is(await run.token(), undefined);
  } finally {
    await run.stop();
  }
});

test.run();
