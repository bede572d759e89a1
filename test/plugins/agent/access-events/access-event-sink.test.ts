import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createAccessEventSink } from '../../../../src/plugins/agent/access-events.ts';
import type { ObservedAccessEvent } from '../../../../src/plugins/agent/operator/contract.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import type { AccessEvent } from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { recordingLog } from './recording-log.ts';

const test = suite('AccessEventSink');

const hit: AccessEvent = {
  time: 2_000_000n,
  road: 'environ',
  outcome: 'denied',
  syscall: 257,
  source: { pid: 11, tid: 12, uid: 1000, comm: 'cat', cgroup: 41n },
  target: { pid: 7, start: 99n, comm: 'app', cgroup: 42n },
};

function rig() {
  const { log, lines } = recordingLog();
  const metrics = createLeanMetrics();
  const told: (ObservedAccessEvent & { count: number; lastAt: bigint })[] = [];
  const timers: (() => void)[] = [];
  const take = createAccessEventSink({
    log,
    metrics,
    resolver: { podOfCgroup: (id) => (id === 42n ? 'pod-42' : undefined) },
    nameOf: (id) => (id === 42n ? { pod: 'shop/web-1', container: 'web' } : undefined),
    channel: { hit: (one, count = 1, lastAt = one.at) => void told.push({ ...one, count, lastAt }) },
    clock: {
      wallTime: (time) => 1_700_000_000_000_000_000n + time,
      after: (_, run) => void timers.push(run),
    },
  });
  const sink = (one: AccessEvent, count = 1, last = one.time) => take(one, { count, last });
  const endSecond = () => {
    for (const run of timers.splice(0)) run();
  };
  return { sink, lines, metrics, told, endSecond };
}

const openat = process.arch === 'arm64' ? 56 : 257;

test('says who tried what on whom, when and with what success', () => {
  const { sink, lines } = rig();
  sink({ ...hit, syscall: openat });
  assert.equal(lines, [
    {
      level: 'warn',
      event: 'hit.denied',
      road: 'environ',
      outcome: 'denied',
      syscall: 'openat',
      at: '2023-11-14T22:13:20.002Z',
      source_pid: 11,
      source_comm: 'cat',
      source_uid: 1000,
      source_pod: undefined,
      target_pid: 7,
      target_comm: 'app',
      target_pod: 'pod-42',
      target_pod_name: 'shop/web-1',
      target_container: 'web',
    },
  ]);
});

test('gives the number of a system call that it does not know, and no target where there is none', () => {
  const { sink, lines, told } = rig();
  const target = { pid: 0, start: 0n, comm: '', cgroup: 0n };
  sink({ ...hit, road: 'kernel_memory', outcome: 'seen', syscall: 4_000, target });
  assert.is(lines[0]?.event, 'hit.seen');
  assert.is(lines[0]?.['syscall'], '4000');
  assert.not.ok('target_pid' in (lines[0] ?? {}));
  assert.is(told[0]?.targetPod, undefined);
});

test('tells the operator each hit with its pods and wall time', () => {
  const { sink, told } = rig();
  sink({ ...hit, syscall: openat });
  sink({ ...hit, source: { ...hit.source, cgroup: 42n } });
  assert.is(told.length, 2);
  assert.is(told[0]?.at, 1_700_000_000_002_000_000n);
  assert.is(told[0]?.syscallName, 'openat');
  assert.equal([told[0]?.sourcePod, told[0]?.targetPod], [undefined, 'pod-42']);
  assert.equal([told[1]?.sourcePod, told[1]?.targetPod], ['pod-42', 'pod-42']);
});

test('counts every event by attack path and outcome', async () => {
  const { sink, metrics } = rig();
  for (let i = 0; i < 30; i++) sink(hit);
  sink({ ...hit, road: 'ptrace', outcome: 'seen' });
  const { body } = await metrics.expose();
  assert.match(body, 'svc_agent_hits_total{road="environ",outcome="denied"} 30\n');
  assert.match(body, 'svc_agent_hits_total{road="ptrace",outcome="seen"} 1\n');
});

test('writes 20 lines a second and then one that says how many more there were', () => {
  const { sink, lines, told, endSecond } = rig();
  for (let i = 0; i < 10_000; i++) sink(hit);
  assert.is(lines.length, 20);
  endSecond();
  assert.equal(lines.slice(20), [{ level: 'warn', event: 'hits.more', more: 9_980 }]);
  for (let i = 0; i < 21; i++) sink(hit);
  endSecond();
  assert.equal(lines.slice(41), [{ level: 'warn', event: 'hits.more', more: 1 }]);
  assert.is(told.length, 10_021);
});

test('takes equal ones that come together for as many as they are', async () => {
  const { sink, lines, metrics, told, endSecond } = rig();
  sink(hit, 3, 5_000_000n);
  assert.is(lines.length, 3);
  sink(hit, 50);
  assert.is(lines.length, 20);
  endSecond();
  assert.equal(lines.at(-1), { level: 'warn', event: 'hits.more', more: 33 });
  assert.match((await metrics.expose()).body, 'svc_agent_hits_total{road="environ",outcome="denied"} 53\n');
  assert.equal(
    told.map(({ count, at, lastAt }) => [count, lastAt - at]),
    [
      [3, 3_000_000n],
      [50, 0n],
    ],
  );
});

test('says nothing of more where there was none', () => {
  const { sink, lines, endSecond } = rig();
  for (let i = 0; i < 20; i++) sink(hit);
  endSecond();
  endSecond();
  assert.is(lines.length, 20);
});

test.run();
