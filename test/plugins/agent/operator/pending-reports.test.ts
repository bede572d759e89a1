import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  NodeState,
  PodMeasurement,
  ReportedProcess,
} from '../../../../src/plugins/agent/operator/contract.ts';
import {
  countMessage,
  PendingReports,
  stateMessage,
} from '../../../../src/plugins/agent/operator/pending-reports.ts';
import { loadProtoService } from '../../../../src/runtime/net/load-proto.ts';
import {
  type AccessOutcome,
  type AccessPath,
  accessOutcomes,
  accessPaths,
} from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import type { SeenReport } from '../../../support/operator-channel.ts';
import { accessEventBy, calmState } from './agent-rig.ts';

const test = suite('messages to the operator');

const uid = 'b6a1c1de-0000-4000-8000-000000000001';
const measured = {
  wrapperVersion: '0.1.0',
  wrapper: {
    lockMode: 'all',
    lockedBytes: 1_000_000,
    unlockedBytes: 5_000,
    swappedBytes: 0,
    lockLimit: undefined,
    coreLimit: 1,
    dumpable: false,
    ipcLock: true,
  },
  application: { pid: 7, lockedBytes: 0, swappedBytes: 9, coreLimit: undefined, dumpable: undefined },
  secretMemory: { kind: 'memfd_secret', bytes: 4096, locked: true, undumped: true },
  delivery: 'both',
} as const;

async function overTheWire(message: object): Promise<{ bytes: number; read: SeenReport }> {
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const bytes = service['ReportNode']?.requestSerialize(message) as Buffer;
  return { bytes: bytes.length, read: structuredClone(service['ReportNode']?.requestDeserialize(bytes)) };
}

test('carry the state of the node', async () => {
  const state: NodeState = {
    tier: 3,
    enforcing: false,
    reason: 'The tracepoint tier sees and does not kill.',
    passedOver: [
      { tier: 1, reason: 'bpf is not in the list of LSMs' },
      { tier: 2, reason: 'no BTF' },
    ],
    enforceMode: true,
    pods: [
      {
        ...{ uid, labelled: true, covered: false, uncoveredReason: 'It has no cgroup.' },
        processes: [
          { pid: 11, start: 2n ** 60n, registration: 'wrapper', measured },
          { pid: 12, start: 3n, registration: 'inherited' },
        ],
      },
    ],
  };
  const { read } = await overTheWire({ state: stateMessage(state) });
  const [pod] = read.state.pods;
  assert.is(read.state.tier, 'TIER_TRACEPOINT');
  assert.is(read.state.reason, state.reason);
  assert.equal(read.state.passedOver[1], { tier: 'TIER_FMOD_RET', reason: 'no BTF' });
  assert.equal([pod.podUid, pod.labelled, read.state.processesLeftOut], [uid, true, 0]);
  assert.equal([pod.covered, pod.uncoveredReason], [false, 'It has no cgroup.']);
  assert.equal(pod.processes[1], {
    pid: 12,
    start: '3',
    registration: 'REGISTRATION_INHERITED',
    measured: null,
  });
  assert.is(pod.processes[0].start, '1152921504606846976');
  assert.equal(pod.processes[0].measured, {
    wrapperVersion: '0.1.0',
    wrapper: {
      lockMode: 'LOCK_MODE_ALL',
      lockedBytes: '1000000',
      unlockedBytes: '5000',
      swappedBytes: '0',
      coreLimit: '1',
      dumpable: false,
      ipcLock: true,
    },
    application: { pid: 7, lockedBytes: '0', swappedBytes: '9' },
    secretMemory: {
      kind: 'SECRET_MEMORY_KIND_MEMFD_SECRET',
      bytes: '4096',
      locked: true,
      undumped: true,
    },
    delivery: 'DELIVERY_BOTH',
  });
});

test('say that no tier is decided on yet', async () => {
  const state = { ...calmState(), tier: undefined, enforcing: false };
  const { read } = await overTheWire({ state: stateMessage(state) });
  assert.is(read.state.tier, 'TIER_UNSPECIFIED');
});

test('know every attack path and outcome by the name that the schema gives it', async () => {
  const counts = accessPaths
    .filter((road) => road !== 'none')
    .flatMap((road: AccessPath) =>
      accessOutcomes.map((outcome: AccessOutcome) => ({ road, outcome, count: 2 })),
    );
  const { read } = await overTheWire({ counts: counts.map(countMessage) });
  for (const [at, { road, outcome }] of counts.entries()) {
    assert.equal(read.counts[at], {
      road: `ROAD_${road.toUpperCase()}`,
      outcome: `OUTCOME_${outcome.toUpperCase()}`,
      count: '2',
    });
  }
});

test('leave out what is beyond the bounds, say how much, and stay below 1 MiB at their largest', async () => {
  const long = 'x'.repeat(10_000);
  const process = (pid: number): ReportedProcess => ({
    pid: 4_000_000 + pid,
    start: 2n ** 63n,
    registration: 'wrapper',
    measured: { ...measured, wrapperVersion: long, wrapper: { ...measured.wrapper, lockedBytes: 2 ** 52 } },
  });
  const pods = Array.from(
    { length: 1_200 },
    (): PodMeasurement => ({
      ...{ uid, labelled: true, covered: true, uncoveredReason: '' },
      processes: Array.from({ length: 6 }, (_, i) => process(i)),
    }),
  );
  const state: NodeState = { ...calmState(), reason: long, passedOver: [{ tier: 1, reason: long }], pods };
  const identity = { node: 'n'.repeat(253), instance: 'i'.repeat(36), bootId: 'b'.repeat(36), version: '1' };
  const ledger = new PendingReports(identity, () => state);
  const { source, target } = accessEventBy(1);
  const comm = '\ufffd'.repeat(15);
  for (let i = 0; i < 2_000; i++)
    ledger.hit(
      accessEventBy(1, {
        source: { ...source, pid: 4_000_000 + i, uid: 2 ** 32 - 1, comm, cgroup: 2n ** 63n },
        target: { ...target, comm, start: 2n ** 63n, cgroup: 2n ** 63n },
        syscall: 2 ** 32 - 1,
        sourcePod: uid,
      }),
    );
  const { bytes, read } = await overTheWire(ledger.next().message);
  assert.is(read.hits.length, 1_000);
  assert.is(read.state.pods.length, 1_000);
  const told = read.state.pods.flatMap((pod: { processes: { measured: object | null }[] }) => pod.processes);
  assert.is(told.length, 5_000);
  assert.is(told.filter((one: { measured: object | null }) => one.measured !== null).length, 1_000);
  assert.is(read.state.processesLeftOut, 2_200);
  assert.ok(bytes < 1_048_576, `${bytes} bytes`);
  assert.ok(bytes > 500_000, `${bytes} bytes: smaller than the largest`);
});

test.run();
