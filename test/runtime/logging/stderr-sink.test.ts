import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { descriptorSink } from '../../../src/runtime/logging/stderr-sink.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const sinks = suite('log sink');
const folder = temporaryFolder('sink');
const fifo = join(folder.path, 'fifo');
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

sinks.before(() => void execFileSync('mkfifo', [fifo]));
sinks.after(() => folder.remove());

sinks('writes at once', () => {
  const file = join(folder.path, 'log');
  const descriptor = openSync(file, 'w');
  descriptorSink(descriptor).write('größer\n');
  assert.is(readFileSync(file, 'utf8'), 'größer\n');
  closeSync(descriptor);
});

sinks('drops lines when the reader has gone', () => {
  const { reader, writer } = openPipe();
  closeSync(reader);
  assert.throws(() => writeSync(writer, 'x'), /EPIPE/);
  descriptorSink(writer).write('lost\n');
  closeSync(writer);
});

sinks('waits for a slow reader and loses nothing', () => {
  const { reader, writer } = openPipe();
  assert.throws(() => fill(writer), /EAGAIN/);
  const line = `${'x'.repeat(100_000)}\n`;
  let read = '';
  const sink = descriptorSink(writer, () => {
    read += drain(reader);
  });
  sink.write(line);
  read += drain(reader);
  assert.ok(read.endsWith(line));
  close(reader, writer);
});

sinks('gives up on a pipe that stays full, does not wait again, and writes once it is read', () => {
  const { reader, writer } = openPipe();
  assert.throws(() => fill(writer), /EAGAIN/);
  let pauses = 0;
  const sink = descriptorSink(writer, () => {
    pauses++;
  });
  sink.write('lost\n');
  assert.is(pauses, 200);
  sink.write('lost as well\n');
  assert.is(pauses, 200);
  drain(reader);
  sink.write('kept\n');
  assert.is(drain(reader), 'kept\n');
  assert.throws(() => fill(writer), /EAGAIN/);
  sink.write('lost again\n');
  assert.is(pauses, 400, 'after a success it waits as before');
  close(reader, writer);
});

sinks('its own pause ends', () => {
  const { reader, writer } = openPipe();
  assert.throws(() => fill(writer), /EAGAIN/);
  descriptorSink(writer).write('lost\n');
  assert.not.match(drain(reader), 'lost');
  close(reader, writer);
});

function close(...descriptors: number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

function openPipe() {
  const reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  return { reader, writer: openSync(fifo, O_WRONLY | O_NONBLOCK) };
}

function fill(descriptor: number): never {
  for (;;) writeSync(descriptor, Buffer.alloc(4096));
}

function drain(descriptor: number): string {
  const buffer = Buffer.alloc(1 << 20);
  return buffer.toString('utf8', 0, readSync(descriptor, buffer));
}

sinks.run();
