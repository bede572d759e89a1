import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportedPods } from '../../../../src/plugins/agent/index.ts';

const test = suite('reportedPods');

const at = (pid: number) => ({ pid, start: BigInt(pid) });
const report = {
  ...at(2),
  podUid: 'a',
  wrapperVersion: '0.1.0',
  wrapper: undefined,
  application: undefined,
  secretMemory: undefined,
  delivery: 'both',
} as const;

test('groups by pod: wrappers with their reports first, labelled pods even when nothing is listed', () => {
  const pods = reportedPods({
    processes: [at(1), at(2), at(3), at(4)],
    registered: [at(2), at(4)],
    reports: [report],
    labelled: [
      { uid: 'b', uncovered: undefined },
      { uid: 'c', uncovered: 'It has no cgroup.' },
    ],
    crowded: new Map(),
    podOf: ({ pid }) => ({ 1: 'a', 2: 'a', 3: 'b' })[pid],
  });
  assert.equal(pods, [
    {
      ...{ uid: 'b', labelled: true, covered: true, uncoveredReason: '' },
      processes: [{ ...at(3), registration: 'inherited', measured: undefined }],
    },
    { uid: 'c', labelled: true, covered: false, uncoveredReason: 'It has no cgroup.', processes: [] },
    {
      ...{ uid: 'a', labelled: false, covered: false, uncoveredReason: '' },
      processes: [
        { ...at(2), registration: 'wrapper', measured: report },
        { ...at(1), registration: 'inherited', measured: undefined },
      ],
    },
    {
      ...{ uid: '', labelled: false, covered: false, uncoveredReason: '' },
      processes: [{ ...at(4), registration: 'wrapper', measured: undefined }],
    },
  ]);
});

test('takes a process with another start for another process', () => {
  const [pod] = reportedPods({
    processes: [{ pid: 2, start: 99n }],
    registered: [at(2)],
    reports: [report],
    labelled: [],
    crowded: new Map(),
    podOf: () => 'a',
  });
  assert.equal(pod?.processes, [{ pid: 2, start: 99n, registration: 'inherited', measured: undefined }]);
});

test('a crowded pod is not covered, labelled or not, and others are', () => {
  const pods = reportedPods({
    ...{ processes: [at(1)], registered: [at(1)], reports: [] },
    labelled: [
      { uid: 'b', uncovered: undefined },
      { uid: 'c', uncovered: undefined },
    ],
    crowded: new Map(['a', 'b'].map((uid) => [uid, 'It has too many.'])),
    podOf: () => 'a',
  });
  assert.equal(
    pods.map(({ uid, covered, uncoveredReason }) => [uid, covered, uncoveredReason]),
    [
      ['b', false, 'It has too many.'],
      ['c', true, ''],
      ['a', false, 'It has too many.'],
    ],
  );
});

test.run();
