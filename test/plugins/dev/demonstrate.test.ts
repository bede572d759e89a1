import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { demonstrate } from '../../../src/plugins/dev/index.ts';
import type { Component } from '../../../src/runtime/component/contract.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { untilAborted } from '../../../src/runtime/lifecycle/wait.ts';
import { rejection } from '../../keyserver/rejection.ts';
import { type Loopback, listen } from '../../support/loopback.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('the demonstration');
const folder = temporaryFolder('demonstrate');
let refusing: Loopback;

test.before(async () => {
  refusing = await listen(createServer((_, response) => response.writeHead(403).end()));
});

test.after(async () => {
  await refusing.stop();
  await folder.remove();
});

/** Refuses every request, and then does not end in order. */
const broken: Component = {
  name: 'proxy',
  settings: {},
  async start(_settings, _deps, signal) {
    const closed = untilAborted(signal).then(() => {
      throw new Error('the proxy broke at its end');
    });
    return { facts: { address: refusing.address }, closed };
  },
};

test('ends with what failed first, and lets go of its data whatever fails then', async () => {
  const error = await rejection(
    demonstrate({
      ...{ proxy: broken, once: true, dataFolder: folder.path, listen: undefined, tls: false },
      ...{ say: () => undefined, tell: () => undefined },
    }),
  );
  assert.instance(error, SvcError, String(error));
  assert.is((error as SvcError).code, 'DEV_ROUND_TRIP');
  assert.not.ok(existsSync(join(folder.path, 'svc-dev.pid')));
});

test.run();
