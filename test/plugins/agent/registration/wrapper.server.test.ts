import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WrapperRun } from '../../../support/svc-wrapper.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type FaultyBed, startFaultyBed } from '../../wrapper/support/faulty-bed.ts';
import { enforcing, fakeGuard, startOf } from './support/fake-guard.ts';
import { POD } from './support/messages.ts';
import { type Served, withServed } from './support/served.ts';

const test = suite('the built wrapper registers');
let bed: FaultyBed;
test.before(async () => {
  bed = await startFaultyBed();
});
test.after.each(() => bed.clear());
test.after(() => bed.stop());

const start = ({ address }: Served, env: Record<string, string> = {}): Promise<WrapperRun> =>
  bed.start({ env: { SVC_EBPF_AGENT_ADDR: address, SVC_REQUIRE_ENFORCEMENT: 'true', ...env } });

const inPod = (uid: string) => ({ readCgroups: () => `0::/kubepods/burstable/pod${uid}/c1\n` });

test('itself, before it asks for a secret, and reports what is in force', async () => {
  const guard = fakeGuard();
  let requestsBefore: number | undefined;
  guard.onProtect = () => {
    requestsBefore = bed.requests.requests.length;
  };
  const work = async (served: Served) => {
    const run = await start(served, { SVC_POD_UID: POD });
    await run.says(/^RUN one$/m);
    assert.is(requestsBefore, 0);
    const registered = await run.event('agent.registered');
    assert.is(registered['tier'], 1);
    const [report] = await waitFor('the report', () => served.reports().length > 0 && served.reports());
    assert.equal(guard.protected, [run.pid]);
    assert.equal(served.registered(), [{ pid: run.pid, start: startOf(run.pid) }]);
    assert.is(report?.podUid, POD);
    assert.is(report?.wrapper?.dumpable, false);
    assert.is(report?.wrapper?.lockedBytes, (await run.event('protection'))['locked_bytes']);
    assert.is(report?.application?.pid, (await run.event('application.started'))['pid']);
    const { version } = JSON.parse(
      readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
    );
    assert.is(report?.wrapperVersion, version);
    await run.stop();
    assert.equal(served.reports(), []);
  };
  await withServed(work, { guard, ...inPod(POD) });
});

test('and does not start in a pod that is not its own: 77, no secret fetched', () =>
  withServed(
    async (served) => {
      const run = await start(served, { SVC_POD_UID: POD });
      assert.is((await run.exited).code, 77);
      assert.is(bed.requests.requests.length, 0);
      assert.equal(served.guard.protected, []);
    },
    inPod(POD.replace('6', '7')),
  ));

test('and does not start where nothing is enforced: 71, no secret fetched', () =>
  withServed(
    async (served) => {
      const run = await start(served);
      assert.is((await run.exited).code, 71);
      assert.match(run.output(), /It only audits\./);
      assert.is(bed.requests.requests.length, 0);
    },
    { guard: fakeGuard({ ...enforcing, enforcing: false, reason: 'It only audits.' }) },
  ));

test('once the agent is ready', async () => {
  const guard = fakeGuard({ ...enforcing, tier: undefined });
  await withServed(
    async (served) => {
      const run = await start(served);
      const refusals = async () => await served.metrics('svc_agent_registrations_total{outcome="not_ready"}');
      await waitFor('an attempt', async () => (await refusals()).length > 0);
      assert.is(bed.requests.requests.length, 0);
      guard.status = enforcing;
      await run.says(/^RUN one$/m);
      assert.equal(guard.protected, [run.pid]);
    },
    { guard },
  );
});

test.run();
