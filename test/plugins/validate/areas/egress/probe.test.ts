import { createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { probeProgram, probeStatus } from '../../../../../src/plugins/validate/areas/egress/enforced.ts';
import { listen } from '../../../../support/loopback.ts';
import { runCommand } from '../../../../support/run-command.ts';

const test = suite('the probe of egress');

const probe = async (port: number) =>
  (await runCommand(process.execPath, ['-e', probeProgram, '127.0.0.1', String(port)], '/')).status;

test('tells a server that answers from one that refuses', async () => {
  const server = createServer((socket) => socket.destroy());
  const { port, stop } = await listen(server);
  assert.is(await probe(port), probeStatus.reached);
  await stop();
  assert.is(await probe(port), probeStatus.refused);
});

test.run();
