import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runInLanes } from './lanes.ts';

const test = suite('lanes of the runner');

/** Runs files of these names, each for a few turns of the loop, and notes what ran at once. */
async function ran(
  names: readonly string[],
  jobs: number,
  kubernetes = Promise.resolve(),
  untilSpareTime = async (_ended: () => boolean) => false,
  hurry: () => void = () => undefined,
) {
  const running = new Set<string>();
  const together: string[][] = [];
  const isIdle = (file: string) => file.includes('idle');
  const lanes = { jobs, kubernetes, hurry, isIdle, untilSpareTime };
  const order = await runInLanes(names, lanes, async (file) => {
    running.add(file);
    together.push([...running].sort());
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    running.delete(file);
    return file;
  });
  return { order, together };
}

const vm = (name: string) => `${name}.vm.server.test.ts`;
const cluster = (name: string) => `${name}.kubernetes.server.test.ts`;

test('run every file once, whatever its kind', async () => {
  const kinds = ['', '.server', '.vm.server', '.host.server', '.alone.server', '.kubernetes.server'];
  const names = kinds.flatMap((kind) => [`a${kind}.test.ts`, `b${kind}.test.ts`, `idle${kind}.test.ts`]);
  for (const jobs of [1, 2, 5]) {
    const { order } = await ran(names, jobs);
    assert.equal([...order].sort(), [...names].sort(), `${jobs}`);
  }
});

test('run two more while there is time to spare, and end when nothing is left', async () => {
  const untilSpareTime = async (ended: () => boolean) => {
    await new Promise(setImmediate);
    return !ended();
  };
  const names = Array.from({ length: 9 }, (_, at) => `${at}.test.ts`);
  const { order, together } = await ran(names, 2, undefined, untilSpareTime);
  assert.equal([...order].sort(), names);
  assert.is(Math.max(...together.map((one) => one.length)), 4);
});

test('boot one machine at a time, beside lighter suites', async () => {
  const { order, together } = await ran([vm('a'), vm('b'), 'c.server.test.ts', 'd.test.ts'], 2);
  assert.ok(together.every((names) => names.filter((name) => name.includes('.vm.')).length <= 1));
  assert.ok(together.some((names) => names.length === 2));
  assert.is(order.length, 4);
});

test('have one suite at a time that has to do with the host, in a lane of its own', async () => {
  const names = ['a.host.server.test.ts', 'b.host.server.test.ts', 'c.server.test.ts', 'd.test.ts', vm('e')];
  const { order, together } = await ran(names, 2);
  assert.ok(together.every((one) => one.filter((name) => name.includes('.host.')).length <= 1));
  assert.ok(together.some((one) => one.length === 3 && one.some((name) => name.includes('.host.'))));
  assert.is(order.length, names.length);
});

test('give the host to one suite where it asks for that, after all others', async () => {
  const names = ['a.alone.server.test.ts', 'b.alone.server.test.ts', vm('c'), 'd.test.ts', cluster('e')];
  const { order, together } = await ran(names, 2);
  assert.equal(order.slice(-2), ['a.alone.server.test.ts', 'b.alone.server.test.ts']);
  const shared = together.filter((one) => one.some((name) => name.includes('.alone.')));
  assert.ok(shared.every((one) => one.length === 1));
});

test('run heavy suites beside light ones first, and what needs no server last', async () => {
  const { order } = await ran(['a.test.ts', 'b.server.test.ts', cluster('c'), vm('d')], 2);
  assert.equal(order, [vm('d'), 'b.server.test.ts', cluster('c'), 'a.test.ts']);
});

test('have two more lanes for what only waits', async () => {
  const idle = ['idle-a.server.test.ts', 'idle-b.test.ts', 'idle-c.test.ts'];
  const names = [...idle, 'c.server.test.ts', 'd.server.test.ts'];
  const { together } = await ran(names, 2);
  const widest = together.find((one) => one.length === 4) ?? [];
  assert.is(widest.filter((name) => name.includes('idle')).length, 2);
  assert.ok((await ran(names, 1)).together.every((one) => one.length === 1));
});

test('begin what needs Kubernetes when that is there, and all else before', async () => {
  const built = Promise.withResolvers<void>();
  const names = [cluster('a'), cluster('idle'), 'c.test.ts', 'd.test.ts'];
  const running = ran(names, 2, built.promise);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  built.resolve();
  assert.equal((await running).order.slice(0, 2), ['c.test.ts', 'd.test.ts']);
  assert.equal((await running).order.slice(2).sort(), [cluster('a'), cluster('idle')]);
});

test('have the build of Kubernetes hurry once nothing else runs or may begin', async () => {
  const built = Promise.withResolvers<void>();
  const names = [cluster('a'), 'b.test.ts', 'c.host.server.test.ts', 'd.alone.server.test.ts'];
  let hurried = 0;
  const running = ran(names, 2, built.promise, undefined, () => {
    hurried += 1;
  });
  await new Promise(setImmediate);
  assert.is(hurried, 0);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.ok(hurried > 0);
  const before = hurried;
  built.resolve();
  assert.equal((await running).order.slice(2), [cluster('a'), 'd.alone.server.test.ts']);
  assert.is(hurried, before);
});

test.run();
