import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { NativeError, tryInt } from '../../../src/runtime/native/libc.ts';
import { mapDescriptor, type Region } from '../../../src/runtime/native/memory.ts';
import { copyMemory } from '../../../src/runtime/native/scrub.ts';
import {
  createSecretMemory,
  type SystemCall,
  systemCall,
} from '../../../src/runtime/native/secret-memory.ts';
import { runFixture } from './run-fixture.ts';

const noMemfdSecret: SystemCall = () => {
  throw new NativeError('syscall', 38);
};
const strict = { requireMemfdSecret: true, requireLock: true };

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof SvcError) return `${error.code} ${error.exitStatus}`;
    throw error;
  }
  return 'no error';
}

function readThroughKernel(address: bigint, length: number): number {
  const descriptor = openSync('/proc/self/mem', 'r');
  try {
    return readSync(descriptor, Buffer.alloc(length), 0, length, address);
  } finally {
    closeSync(descriptor);
  }
}

function nameOf(region: Region): string {
  return readlinkSync(`/proc/self/fd/${region.descriptor}`);
}

/** The kernel's flags of the mapping that begins there. */
function flagsAt(address: bigint): string | undefined {
  const smaps = readFileSync('/proc/self/smaps', 'latin1');
  const from = smaps.indexOf(`\n${address.toString(16)}-`);
  return from === -1 ? undefined : /VmFlags: (.*)/.exec(smaps.slice(from))?.[1];
}

const secretMemory = suite('secret memory');

secretMemory('is memfd_secret where the kernel has it: whole pages, close-on-exec, locked', () => {
  const region = createSecretMemory(strict).allocate(5000);
  assert.is(region.kind, 'memfd_secret');
  assert.is(region.locked, true);
  assert.is(region.length, 5000);
  assert.is(region.bytes.length, 5000);
  assert.is(nameOf(region), '/secretmem (deleted)');
  assert.is(fstatSync(region.descriptor ?? -1).size, 8192);
  region.release();
});

secretMemory('can be read in place, but not by the kernel for anybody else', () => {
  const region = createSecretMemory(strict).allocate(4096);
  const anonymous = createSecretMemory({
    ...strict,
    requireMemfdSecret: false,
    call: noMemfdSecret,
  }).allocate(10);
  region.bytes.write('to be kept');
  assert.is(region.bytes.toString('utf8', 0, 10), 'to be kept');
  assert.throws(() => readThroughKernel(region.address, 10), /EIO|EFAULT/);
  assert.is(copyMemory(region.address, anonymous.address, 10), 0);
  assert.is(copyMemory(anonymous.address, anonymous.address, 10), 10, 'what can be read is read');
  assert.is(readThroughKernel(anonymous.address, 10), 10, 'what can be read is read');
  anonymous.release();
  region.release();
});

secretMemory('is zeroed, unmapped and closed on release; buffers taken before are empty', () => {
  const region = createSecretMemory(strict).allocate(4096);
  const copyOfDescriptor = tryInt('dup', region.descriptor ?? -1);
  const taken = region.bytes;
  const slice = taken.subarray(1, 3);
  taken.write('to be kept');
  region.release();
  region.release();
  assert.throws(() => region.bytes, /released/);
  assert.is(taken.length + slice.length, 0);
  assert.throws(() => fstatSync(region.descriptor ?? -1), /EBADF/);
  assert.is(flagsAt(region.address), undefined, 'nothing is mapped there');
  const left = mapDescriptor(copyOfDescriptor);
  assert.ok(left.bytes.equals(Buffer.alloc(4096)), 'whoever holds the descriptor finds zeros');
  left.unmap();
  closeSync(copyOfDescriptor);
});

secretMemory('survives the collection of buffers over memory that is gone', () => {
  const memory = createSecretMemory(strict);
  for (let round = 0; round < 500; round += 1) memory.allocate(4096).release();
  const region = memory.allocate(100_000);
  region.bytes.fill(7);
  assert.ok(region.bytes.every((byte) => byte === 7));
  region.release();
});

secretMemory('without memfd_secret is locked anonymous memory that dumps leave out', () => {
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: true, call: noMemfdSecret });
  const region = memory.allocate(100);
  assert.is(region.kind, 'anonymous');
  assert.is(region.locked, true);
  assert.is(region.descriptor, undefined);
  assert.match(flagsAt(region.address) ?? '', /(?=.*\blo\b)(?=.*\bdd\b)/);
  region.release();
});

secretMemory('is refused with exit status 71 where memfd_secret is required and missing', () => {
  const memory = createSecretMemory({ ...strict, call: noMemfdSecret });
  assert.is(
    codeOf(() => memory.allocate(100)),
    'MEMFD_SECRET_UNAVAILABLE 71',
  );
});

secretMemory('may be empty', () => {
  const region = createSecretMemory(strict).allocate(0);
  assert.is(region.bytes.length, 0);
  region.release();
});

secretMemory('passes the flag for close-on-exec to the kernel', () => {
  const calls: bigint[][] = [];
  const call: SystemCall = (...args) => {
    calls.push(args);
    return systemCall(...args);
  };
  createSecretMemory({ ...strict, call })
    .allocate(1)
    .release();
  assert.equal(calls, [[447n, 0o2000000n]]);
});

secretMemory('handed over, it is gone here and keeps its content for whoever holds the descriptor', () => {
  const region = createSecretMemory(strict).allocate(4096);
  region.bytes.write('for the application');
  const other = tryInt('dup', region.descriptor ?? -1);
  region.handOver();
  region.handOver();
  assert.throws(() => region.bytes, TypeError);
  const mapping = mapDescriptor(other);
  assert.is(mapping.bytes.toString('utf8', 0, 19), 'for the application');
  mapping.unmap();
  closeSync(other);
});

secretMemory.run();

const ordinary = suite('secret memory, as an ordinary user');

for (const [memlock, mostPages] of [
  [8 << 20, 2048],
  [65_536, 16],
] as const) {
  ordinary(`with ${memlock} bytes of locked memory has that much of memfd_secret and no more`, () => {
    const fits = runFixture('secret-memory', {
      args: ['strict', `${mostPages * 4096}`],
      ordinary: true,
      memlock,
    });
    assert.equal(fits.json, { kind: 'memfd_secret', locked: true }, fits.output);
    const above = runFixture('secret-memory', {
      args: ['strict', `${mostPages * 4096 + 1}`],
      ordinary: true,
      memlock,
    });
    assert.is(above.status, 71);
    assert.is(above.json.code, 'MEMORY_LOCK_REFUSED');
    assert.match(above.json.nextStep, /IPC_LOCK.*LimitMEMLOCK/);
  });

  ordinary(`with ${memlock} bytes and nothing required says that it is not locked above that`, () => {
    const { json } = runFixture('secret-memory', {
      args: ['lax', `${memlock + 1}`],
      ordinary: true,
      memlock,
    });
    assert.equal(json, { kind: 'anonymous', locked: false });
  });
}

ordinary('is refused where the lock is required although memfd_secret is not', () => {
  const { json, status } = runFixture('secret-memory', {
    args: ['lock', '70000'],
    ordinary: true,
    memlock: 65_536,
  });
  assert.is(json.code, 'MEMORY_LOCK_REFUSED');
  assert.is(status, 71);
});

ordinary.run();
