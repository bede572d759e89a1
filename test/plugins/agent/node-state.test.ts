import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Guard } from '../../../src/plugins/agent/guard/contract.ts';
import { createNodeState, rememberPods } from '../../../src/plugins/agent/index.ts';

const test = suite('the state of a node');
const [one, two] = [
  { pid: 10, start: 100n },
  { pid: 20, start: 200n },
];

test('groups what is guarded by pod, with how it came to be', () => {
  const status = { tier: 1, enforcing: true, reason: '', passedOver: [] } as const;
  const guard = { status, processes: () => [one, two] } as unknown as Guard;
  const registration = { registered: () => [one], reports: () => [] };
  const resolver = {
    podOfProcess: () => 'uid',
    podOfCgroup: () => undefined,
    containerOfCgroup: () => undefined,
  };
  const state = createNodeState({ enforce: false }, guard, registration, {
    labelled: () => [
      { uid: 'uid', uncovered: undefined },
      { uid: 'other', uncovered: 'It has no cgroup.' },
    ],
    crowded: () => new Map(),
    resolver,
  })();
  assert.is(state.tier, 1);
  assert.is(state.enforceMode, false);
  assert.equal(
    state.pods.map(({ uid, labelled, covered, processes }) => [
      ...[uid, labelled, covered],
      processes.map((p) => p.registration),
    ]),
    [
      ['uid', true, true, ['wrapper', 'inherited']],
      ['other', true, false, []],
    ],
  );
});

test('asks once for the pod of a process, and anew for another with the same PID', () => {
  const asked: bigint[] = [];
  const remembering = rememberPods(({ start }) => {
    asked.push(start);
    return `pod ${start}`;
  });
  assert.is(remembering([one, two])(one), 'pod 100');
  assert.is(remembering([one])(one), 'pod 100');
  assert.equal(asked, [100n, 200n]);
  const reused = { pid: 10, start: 300n };
  assert.is(remembering([reused])(reused), 'pod 300');
  assert.is(remembering([one])(two), undefined, 'what is gone is forgotten');
});

test.run();
