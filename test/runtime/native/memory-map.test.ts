import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  codeRuns,
  isMallocArena,
  parseMemoryMap,
  swappable,
} from '../../../src/runtime/native/process-lock.ts';
import { countLockedBytes } from '../../support/locked-bytes.ts';

const map = `\
06b56000-06b7d000 rw-p 06755000 fe:00 5325637                            /opt/a b/node
06b7d000-06bb6000 rw-p 00000000 00:00 0 
29677000-29f06000 rw-p 00000000 00:00 0                                  [heap]
7ff5d8000000-7ff5d8021000 rw-p 00000000 00:00 0 
7ff5d8021000-7ff5dc000000 ---p 00000000 00:00 0 
7ff5dc000000-7ff5dc100000 ---p 00000000 00:00 0 
7ff5dc100000-7ff5fbdc0000 rwxp 00000000 00:00 0 
7ff5fbdc0000-7ff5fbfc5000 r-xp 01627000 fe:00 5325637                    /opt/a b/node
7ff5fbfc5000-7ff5fc000000 rwxp 00000000 00:00 0                          [anon:v8]
7ff5fc000000-7ff5fc010000 rw-p 00000000 00:00 0 
7ff600000000-7ff600010000 rw-p 00000000 00:00 0 
7fffd43b6000-7fffd43d7000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`;

const memoryMap = suite('memory map');

memoryMap('reads names with blanks, and what is anonymous', () => {
  const ranges = parseMemoryMap(map);
  assert.is(ranges.length, 13);
  assert.is(ranges[0]?.name, '/opt/a b/node');
  assert.equal(
    ranges.filter(({ anonymous }) => !anonymous).map(({ name }) => name),
    ['/opt/a b/node', '[heap]', '/opt/a b/node', '[stack]', '[vsyscall]'],
  );
});

memoryMap('finds code with its anonymous neighbours, but not the arena beside it', () => {
  assert.equal(codeRuns(parseMemoryMap(map)), [
    { start: 0x7ff5dc000000, end: 0x7ff5fbdc0000 },
    { start: 0x7ff5fbfc5000, end: 0x7ff5fc010000 },
  ]);
});

memoryMap(
  'may swap out what is private: data, heap, stack and what is kept for later, not code or parts of files',
  () => {
    const shared =
      '7ff610000000-7ff610010000 rw-s 00000000 00:01 77                         /secretmem (deleted)';
    const ranges = swappable(parseMemoryMap(`${map}${shared}\n`));
    assert.equal(
      ranges.map(({ start }) => start),
      [0x6b56000, 0x6b7d000, 0x29677000, 0x7ff5d8000000, 0x7ff5d8021000, 0x7ff600000000, 0x7fffd43b6000],
    );
  },
);

memoryMap('knows an arena of malloc by its place and the rest that it keeps', () => {
  const ranges = parseMemoryMap(map);
  const arenas = ranges.filter((range, index) => isMallocArena(range, ranges[index + 1]));
  assert.equal(
    arenas.map(({ start }) => start),
    [0x7ff5d8000000],
  );
});

memoryMap('counts present and swapped bytes of writable private memory by whether it is locked', () => {
  const smaps = `\
1000-9000 rw-p 00000000 00:00 0                                  [heap]
Rss:                  16 kB
Anonymous:            12 kB
Swap:                  4 kB
Locked:               12 kB
VmFlags: rd wr mr mw me lo ac sd
9000-f000 rw-p 00000000 00:00 0 
Anonymous:             8 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac
f000-ff000 r-xp 00000000 fe:00 77 /opt/rw-p
Anonymous:           100 kB
VmFlags: rd ex lo
`;
  assert.equal(countLockedBytes(smaps), { lockedBytes: 16_384, unlockedBytes: 8192 });
});

memoryMap.run();
