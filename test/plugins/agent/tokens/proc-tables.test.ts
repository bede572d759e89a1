import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listeners } from '../../../../src/plugins/agent/tokens/find-kubelet.ts';
import { type Mount, mountsOf } from '../../../../src/runtime/native/mounts.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';

const test = suite<{ folder: TemporaryFolder; path: string }>('tables of sockets and mounts');

test.before.each((context) => {
  context.folder = temporaryFolder('proc-tables');
  context.path = join(context.folder.path, 'table');
});

test.after.each(({ folder }) => folder.remove());

const head =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const socket = (index: number, local: string, state: string, inode: number) =>
  `${String(index).padStart(4)}: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 ffff 100 0 0 10 0`;

test('the sockets that listen on a port are found', ({ path }) => {
  const lines = [socket(0, '0100007F:280A', '0A', 11), socket(1, '00000000:0050', '0A', 12)];
  writeFileSync(path, `${[head, ...lines, socket(2, '00000000:280A', '01', 13)].join('\n')}\n`);
  assert.equal(listeners(path, 10_250), ['11']);
  assert.equal(listeners(join(path, 'nothing'), 10_250), []);
});

test('no connection is looked at: strangers make as many as they like', ({ path }) => {
  const connections = Array.from({ length: 200_000 }, (_, index) => socket(index, '0A000001:280A', '01', 14));
  writeFileSync(path, [head, socket(0, '00000000:280A', '0A', 11), ...connections].join('\n'));
  const before = process.memoryUsage.rss();
  const begun = performance.now();
  assert.equal(listeners(path, 10_250), ['11']);
  // the whole table has 27 MB
  assert.ok(process.memoryUsage.rss() - before < 8_388_608);
  assert.ok(performance.now() - begun < 1_000);
});

const mount = (index: number, path: string) =>
  `${index} 1 0:${index} / ${path} rw,nosuid shared:1 - tmpfs t rw`;

test('mounts come in their order, and no further than they are wanted', ({ path }) => {
  writeFileSync(path, `${mount(40, '/a')}\nnonsense\n${mount(41, '/b\\040c')}\n${mount(42, '/d')}\n`);
  const seen: Mount[] = [];
  for (const each of mountsOf(path)) if (seen.push(each) === 2) break;
  assert.equal(
    seen.map(({ device, path: at, type }) => ({ device, at, type })),
    [
      { device: 40, at: '/a', type: 'tmpfs' },
      { device: 41, at: '/b\\040c', type: 'tmpfs' },
    ],
  );
});

test('a container that has mounted more than fits is refused, and takes no memory', ({ path }) => {
  const long = `/${'m'.repeat(255)}`.repeat(15);
  const lines = Array.from({ length: 100 }, (_, index) => mount(index, long));
  writeFileSync(path, `${Array.from({ length: 100 }, () => lines.join('\n')).join('\n')}\n`);
  const before = process.memoryUsage.rss();
  let count = 0;
  const readAll = () => {
    for (const _ of mountsOf(path)) count += 1;
  };
  assert.throws(readAll, /longer than 33554432 bytes/);
  assert.ok(count > 8_000 && count < 10_000, String(count));
  assert.ok(process.memoryUsage.rss() - before < 33_554_432);
});

test.run();
