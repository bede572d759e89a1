import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Connection } from '../../../../src/plugins/agent/operator/connection.ts';
import { ReportError } from '../../../../src/plugins/agent/operator/contract.ts';
import { startOperator, type TestOperator } from '../../../support/operator-channel.ts';

interface Context {
  /** Replicas behind one name. */
  first: TestOperator;
  second: TestOperator;
  connection: Connection;
  lookUps: number;
}

const test = suite<Context>('connection to the replicas of the operator');

test.before.each(async (context) => {
  context.first = await startOperator();
  context.second = await startOperator({ authority: context.first.authority });
  context.lookUps = 0;
  const endpoints = [context.first, context.second].map(({ address }) => `ipv4:127.0.0.1:${address.port}`);
  context.connection = new Connection({
    address: context.first.address,
    tls: context.first.tls,
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    async endpointsOf() {
      context.lookUps += 1;
      return endpoints;
    },
  });
});
test.after.each(async ({ first, second, connection }) => {
  connection.close();
  await first.stop();
  await second.stop();
});

const report = { node: 'node-1', instance: 'i' };

async function failure(connection: Connection): Promise<ReportError> {
  try {
    await connection.report(report);
  } catch (error) {
    return error as ReportError;
  }
  throw new Error('the report was answered');
}

test('finds the replica that leads, and stays with it', async (context) => {
  const { first, second, connection } = context;
  first.answer = { code: 'UNAVAILABLE', details: 'not the leader' };
  for (let i = 0; i < 3; i++) await connection.report(report);
  assert.equal([first.reports.length, second.reports.length, context.lookUps], [0, 3, 1]);
});

test('goes to another one within the same report when that one leaves', async (context) => {
  const { first, second, connection } = context;
  await connection.report(report);
  first.down();
  await connection.report(report);
  assert.equal([first.reports.length, second.reports.length, context.lookUps], [1, 1, 2]);
});

test('fails where none of them leads', async ({ first, second, connection }) => {
  first.answer = { code: 'UNAVAILABLE', details: 'not the leader' };
  second.answer = { code: 'UNAVAILABLE', details: 'not yet' };
  const error = await failure(connection);
  assert.equal([error.result, error.message], ['unavailable', 'not yet']);
});

test('asks no other replica where the answer is about the report itself', async ({
  first,
  second,
  connection,
}) => {
  for (const code of ['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED'] as const) {
    first.answer = { code, details: code };
    const error = await failure(connection);
    assert.ok(error instanceof ReportError);
    assert.equal([error.result, error.message], [code.toLowerCase(), code]);
  }
  assert.is(second.reports.length, 0);
  first.answer = {};
  await connection.report(report);
  assert.is(first.reports.length, 1);
});

test('ends a call that is cut', async ({ first }) => {
  const cut = new AbortController();
  const { address, tls } = first;
  const connection = new Connection({ address, tls, timeoutMs: 60_000, signal: cut.signal });
  first.answer = 'hang';
  first.onReport = () => cut.abort();
  assert.is((await failure(connection)).result, 'cancelled');
});

test('says which name cannot be looked up', async ({ first }) => {
  const address = { host: 'operator.invalid', port: 8199 };
  const signal = new AbortController().signal;
  const error = await failure(new Connection({ address, tls: first.tls, timeoutMs: 60_000, signal }));
  assert.is(error.result, 'name_lookup');
  assert.match(error.message, 'operator.invalid');
});

test.run();
