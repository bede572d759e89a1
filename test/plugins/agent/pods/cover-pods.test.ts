import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planCover, type Situation } from '../../../../src/plugins/agent/pods/cover-pods.ts';

const test = suite('plan of what to cover');
const pod = (uid: string, id: bigint) => ({ uid, id, path: `/kubepods/pod${uid}` });
const situation = (parts: Partial<Situation>): Situation => ({
  ...{ covered: new Set(), wanted: new Set(), listed: true, found: [], isThere: () => false },
  ...parts,
});

test('covers a wanted pod, in each cgroup that it has', () => {
  const found = [pod('a', 1n), pod('a', 2n), pod('b', 3n)];
  const { cover, release, unsettled } = planCover(situation({ wanted: new Set(['a']), found }));
  assert.equal(
    cover.map(({ id }) => id),
    [1n, 2n],
  );
  assert.equal(release, []);
  assert.is(unsettled, false);
});

test('waits for the cgroup of a pod that has none yet', () => {
  const { cover, unsettled } = planCover(situation({ wanted: new Set(['a']), found: [pod('b', 3n)] }));
  assert.equal(cover, []);
  assert.is(unsettled, true);
});

test('keeps a pod that is no longer wanted while its cgroup is there, and releases it then', () => {
  const covered = new Set([1n]);
  const before = planCover(situation({ covered, found: [pod('a', 1n)] }));
  assert.equal(before.release, []);
  assert.is(before.unsettled, true);
  const after = planCover(situation({ covered, found: [] }));
  assert.equal(after.release, [1n]);
  assert.is(after.unsettled, false);
});

test('keeps the cgroup of a container, which the programs cover where a process has no entry of its own', () => {
  const covered = new Set([1n, 7n, 8n]);
  const now = situation({ covered, found: [pod('a', 1n)], isThere: (id) => id === 7n });
  assert.equal(planCover(now).release, [8n]);
});

test('releases nothing before the pods were listed, nor without a sign of a kubelet', () => {
  const covered = new Set([1n]);
  assert.equal(planCover(situation({ covered, listed: false })).release, []);
  assert.equal(planCover(situation({ covered, found: undefined })).release, []);
});

test('never releases what is there, and leaves nothing wanted that is there uncovered', () => {
  const uid = fc.constantFrom('a', 'b', 'c');
  const id = fc.bigInt(0n, 8n);
  const any = fc.record({
    covered: fc.array(id).map((ids) => new Set(ids)),
    wanted: fc.array(uid).map((uids) => new Set<string>(uids)),
    listed: fc.boolean(),
    found: fc.option(
      fc
        .uniqueArray(fc.tuple(uid, id), { selector: ([, each]) => each })
        .map((all) => all.map(([u, i]) => pod(u, i))),
      { nil: undefined },
    ),
    isThere: fc.constant(() => false),
  });
  fc.assert(
    fc.property(any, (now) => {
      const plan = planCover(now);
      const after = new Set([...now.covered, ...plan.cover.map((each) => each.id)]);
      for (const gone of plan.release) after.delete(gone);
      const there = now.found ?? [];
      for (const { id: each } of there) if (now.covered.has(each)) assert.ok(after.has(each));
      for (const { id: each, uid: of } of there) if (now.wanted.has(of)) assert.ok(after.has(each));
      const known = new Set(there.map((each) => each.id));
      if (now.listed && now.found) assert.ok([...after].every((each) => known.has(each)));
      const again = planCover({ ...now, covered: after });
      assert.equal([again.cover, again.release], [[], []]);
    }),
  );
});

test.run();
