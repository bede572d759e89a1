import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerWithAgent } from '../../../../src/plugins/wrapper/agent/register.ts';
import { reportToAgent } from '../../../../src/plugins/wrapper/agent/report.ts';
import { startCaller } from './support/callers.ts';
import { enforcing, fakeGuard, startOf } from './support/fake-guard.ts';
import { keptReport, POD, registration, wrapperReport } from './support/messages.ts';
import { type Served, withServed } from './support/served.ts';

const test = suite('reports of wrappers');
const timeoutMs = 10_000;
const own = { pid: process.pid, start: startOf(process.pid) as bigint };

const register = ({ socketPath }: Served) => registerWithAgent(registration, { socketPath, timeoutMs });
const send = ({ socketPath }: Served, change: Partial<typeof wrapperReport> = {}) =>
  reportToAgent({ ...wrapperReport, ...change }, { socketPath, timeoutMs });
const refusal = (sending: Promise<void>) => sending.then(() => 'taken', String);

test('keeps what a registered process reports', () =>
  withServed(async (served) => {
    await register(served);
    assert.equal(served.reports(), []);
    await send(served);
    assert.equal(served.reports(), [{ ...own, podUid: undefined, ...keptReport }]);
  }));

test('keeps the newest, with what it leaves out left out', () =>
  withServed(async (served) => {
    await register(served);
    await send(served);
    await send(served, { application: undefined, secretMemory: undefined, delivery: 'both' });
    const left = { application: undefined, secretMemory: undefined, delivery: 'both' };
    assert.equal(served.reports(), [{ ...own, podUid: undefined, ...keptReport, ...left }]);
  }));

test('takes the pod from the cgroup and refuses another one', () =>
  withServed(
    async (served) => {
      await register(served);
      assert.match(await refusal(send(served, { podUid: POD.replace('6', '7') })), /PERMISSION_DENIED/);
      assert.match(await refusal(send(served, { podUid: 'demo' })), /INVALID_ARGUMENT/);
      assert.equal(served.reports(), []);
      await send(served);
      assert.is(served.reports()[0]?.podUid, POD);
    },
    { readCgroups: () => `0::/kubepods/pod${POD}/c1\n` },
  ));

test('refuses whoever has not registered', () =>
  withServed(async (served) => {
    assert.match(await refusal(send(served)), /FAILED_PRECONDITION: .*not registered/);
    assert.equal(served.reports(), []);
  }));

test('refuses who is not protected any more', () =>
  withServed(async (served) => {
    await register(served);
    served.guard.facts = (facts) => ({ ...facts, covered: false });
    assert.match(await refusal(send(served)), /FAILED_PRECONDITION: .*not registered/);
  }));

test('takes the report of a process that an earlier agent protected', async () => {
  const guard = fakeGuard({ ...enforcing, tier: undefined });
  await withServed(
    async (served) => {
      guard.earlier.push(own);
      guard.status = enforcing;
      assert.equal(served.registered(), []);
      await send(served);
      assert.is(served.reports().length, 1);
      assert.equal(served.registered(), [own]);
    },
    { guard },
  );
});

test('drops the report of a process that is gone', () =>
  withServed(async (served) => {
    await register(served);
    await send(served);
    served.guard.facts = (facts) => ({ ...facts, start: facts.start + 10_000_000n });
    assert.equal(served.reports(), []);
    served.guard.facts = (facts) => facts;
    assert.equal(served.reports(), []);
    assert.match(await refusal(send(served)), /not registered/);
  }));

test('a version is kept on one line, and short', () =>
  withServed(async (served) => {
    await register(served);
    await send(served, { version: `1\n${'x'.repeat(5000)}` });
    assert.is(served.reports()[0]?.wrapperVersion, `1 ${'x'.repeat(62)}`);
  }));

test('tells of what has changed, not of what is said again', async () => {
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const work = async (served: Served) => {
    await register(served);
    await register(served);
    assert.is(changes, 1);
    await send(served);
    assert.is(changes, 2);
  };
  await withServed(work, { onChange });
});

test('one process does not report for another', () =>
  withServed(async (served) => {
    const other = await startCaller(served.socketPath);
    assert.match(await refusal(send(served)), /not registered/);
    await other.end();
  }));

test.run();
