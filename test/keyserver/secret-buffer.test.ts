import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SecretBuffer } from '../../src/keyserver/secret-buffer.ts';
import { plainMemory } from '../support/plain-memory.ts';

const buffers = suite('growing secret memory');

buffers('grows, keeps what it holds, and leaves nothing behind', () => {
  const memory = plainMemory();
  const buffer = new SecretBuffer(memory);
  assert.is(buffer.bytes.length, 0);
  for (let index = 0; index < 2000; index++) buffer.append(Buffer.from('0123456789'));
  assert.is(buffer.bytes.toString(), '0123456789'.repeat(2000));
  assert.is(memory.held(), 1);
  assert.is(count(memory.everything(), '0123456789'), 2000);
  buffer.clear();
  assert.is(buffer.bytes.length, 0);
  assert.ok(memory.everything().every((byte) => byte === 0));
  buffer.append(Buffer.from('again'));
  buffer.release();
  buffer.release();
  assert.is(memory.held(), 0);
  assert.ok(memory.everything().every((byte) => byte === 0));
});

const count = (bytes: Buffer, text: string): number => bytes.toString('latin1').split(text).length - 1;

buffers('does not move where room was made before', () => {
  const memory = plainMemory();
  const buffer = new SecretBuffer(memory);
  buffer.reserve(100_000);
  const { buffer: first } = buffer.bytes;
  buffer.append(Buffer.alloc(100_000, 'x'));
  assert.is(buffer.bytes.buffer, first);
});

buffers('is filled in place', () => {
  const buffer = new SecretBuffer(plainMemory());
  let left = 9000;
  const read = (into: Buffer): number => {
    const length = Math.min(left, into.length);
    left -= into.fill('y', 0, length) === into ? length : 0;
    return length;
  };
  while (buffer.appendFrom(read) > 0);
  assert.is(buffer.bytes.toString(), 'y'.repeat(9000));
});

buffers.run();
