import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ClientTlsFiles, clientOpener } from '../../../../src/plugins/agent/operator/operator-client.ts';
import { startOperator } from '../../../support/operator-channel.ts';

/** What gRPC waits before it connects again, a second and a fifth of it, and room for the connection. */
const nextAttemptMs = 2_000;

const test = suite("client of the operator's channel");

test('that was closed after a failure keeps no connection to an operator that comes later', async () => {
  const operator = await startOperator();
  operator.down();
  const open = await clientOpener();
  const { host, port } = operator.address;
  const client = open(
    `ipv4:${host}:${port}`,
    operator.address,
    await new ClientTlsFiles(operator.tls).current(),
  );
  const bounds = { timeoutMs: 5_000, signal: new AbortController().signal, token: undefined };
  await client.report({ node: 'node-1' }, bounds).then(
    () => assert.unreachable(),
    () => undefined,
  );
  client.close();
  try {
    await operator.up();
    await sleep(nextAttemptMs);
    assert.is(sockets(), 0);
  } finally {
    await operator.stop();
  }
});

/** Of this process: the listener is none. */
const sockets = () => process.getActiveResourcesInfo().filter((one) => one === 'TCPSocketWrap').length;

test.run();
