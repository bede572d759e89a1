import { closeSync, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/core/errors.ts';
import { tryInt, tryLong } from '../../../src/runtime/native/libc.ts';
import { mapDescriptor } from '../../../src/runtime/native/map-descriptor.ts';
import { type SystemCall, systemCall } from '../../../src/runtime/native/memfd-secret.ts';
import { NativeError } from '../../../src/runtime/native/native-error.ts';
import type { Region } from '../../../src/runtime/native/region.ts';
import { createSecretMemory } from '../../../src/runtime/native/secret-memory.ts';

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

function flagsOf(region: Region): string {
  return readlinkSync(`/proc/self/fd/${region.descriptor}`);
}

const secretMemory = suite('secret memory');

secretMemory('is memfd_secret where the kernel has it: whole pages, close-on-exec, locked', () => {
  const region = createSecretMemory(strict).allocate(5000);
  assert.is(region.kind, 'memfd_secret');
  assert.is(region.locked, true);
  assert.is(region.length, 5000);
  assert.is(region.bytes.length, 5000);
  assert.is(flagsOf(region), '/secretmem (deleted)');
  assert.is(fstatSync(region.descriptor ?? -1).size, 8192);
  region.release();
});

secretMemory('can be read in place, but not by the kernel for anybody else', () => {
  const region = createSecretMemory(strict).allocate(4096);
  region.bytes.write('to be kept');
  assert.is(region.bytes.toString('utf8', 0, 10), 'to be kept');
  assert.throws(() => readThroughKernel(region.address, 10), /EIO|EFAULT/);
  const anonymous = createSecretMemory({
    ...strict,
    requireMemfdSecret: false,
    call: noMemfdSecret,
  }).allocate(10);
  assert.is(readThroughKernel(anonymous.address, 10), 10, 'the check itself reads what can be read');
  anonymous.release();
  region.release();
});

secretMemory('is zeroed, unmapped and closed on release; buffers taken before are empty', () => {
  const region = createSecretMemory(strict).allocate(4096);
  const taken = region.bytes;
  const slice = taken.subarray(1, 3);
  const copyOfDescriptor = Number(tryLong('dup', region.descriptor ?? -1));
  taken.write('to be kept');
  region.release();
  region.release();
  assert.throws(() => region.bytes, /released/);
  assert.is(taken.length + slice.length, 0);
  assert.throws(() => fstatSync(region.descriptor ?? -1), /EBADF/);
  closeSync(copyOfDescriptor);
});

secretMemory('without memfd_secret is locked anonymous memory that dumps leave out', () => {
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: true, call: noMemfdSecret });
  const region = memory.allocate(100);
  assert.is(region.kind, 'anonymous');
  assert.is(region.locked, true);
  assert.is(region.descriptor, undefined);
  region.release();
});

secretMemory('is refused with exit status 71 where memfd_secret is required and missing', () => {
  const memory = createSecretMemory({ ...strict, call: noMemfdSecret });
  assert.is(
    codeOf(() => memory.allocate(100)),
    'MEMFD_SECRET_UNAVAILABLE 71',
  );
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
