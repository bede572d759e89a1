import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/core/errors.ts';
import { demonstrate } from '../../../src/plugins/dev/index.ts';
import type { Component } from '../../../src/runtime/component/contract.ts';
import { untilAborted } from '../../../src/runtime/lifecycle/wait.ts';
import { rejection } from '../../runtime/vault/rejection.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('the demonstration');
const folder = temporaryFolder('demonstrate');
let refusing: Server;

test.before(async () => {
  refusing = createServer((_, response) => response.writeHead(403).end());
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
});

test.after(async () => {
  refusing.close();
  await folder.remove();
});

/** Refuses every request, and then does not end in order. */
const broken: Component = {
  name: 'proxy',
  settings: {},
  async start(_settings, _deps, signal) {
    const { port } = refusing.address() as AddressInfo;
    const closed = untilAborted(signal).then(() => {
      throw new Error('the proxy broke at its end');
    });
    return { facts: { address: `127.0.0.1:${port}` }, closed };
  },
};

test('ends with what failed first, and lets go of its data whatever fails then', async () => {
  const error = await rejection(
    demonstrate({
      ...{ proxy: broken, once: true, dataFolder: folder.path, listen: undefined },
      ...{ say: () => undefined, tell: () => undefined },
    }),
  );
  assert.instance(error, SvcError, String(error));
  assert.is((error as SvcError).code, 'DEV_ROUND_TRIP');
  assert.not.ok(existsSync(join(folder.path, 'svc-dev.pid')));
});

test.run();
