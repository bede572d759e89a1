import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { descriptorSink } from '../../../src/runtime/logging/create-logger.ts';
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
  const pause = () => {
    read += drain(reader);
  };
  const sink = descriptorSink(writer, { pause });
  sink.write(line);
  read += drain(reader);
  assert.ok(read.endsWith(line));
  close(reader, writer);
});

sinks('gives up on a pipe that stays full, does not wait again, and writes once it is read', () => {
  const { reader, writer } = openPipe();
  assert.throws(() => fill(writer), /EAGAIN/);
  let pauses = 0;
  const pause = () => {
    pauses++;
  };
  const sink = descriptorSink(writer, { pause });
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

sinks('begins a new line after one that it could not finish', () => {
  const { reader, writer } = openPipe();
  assert.throws(() => fill(writer), /EAGAIN/);
  let read = '';
  const pause = () => {
    if (read === '') read = drain(reader, 8192);
  };
  const sink = descriptorSink(writer, { pause });
  sink.write(`${'x'.repeat(10_000)}\n`);
  drain(reader);
  sink.write('next\n');
  assert.is(drain(reader), '\nnext\n');
  sink.write('last\n');
  assert.is(drain(reader), 'last\n');
  close(reader, writer);
});

sinks('writes no more than a page to what says that it is ready, and nothing to what is not', () => {
  const { reader, writer } = openPipe();
  const answers = [true, true, false, true];
  const sizes: number[] = [];
  const ready = () => {
    sizes.push(drain(reader).length);
    return answers.shift() ?? false;
  };
  descriptorSink(writer, { ready, pause: () => undefined }).write(`${'x'.repeat(10_000)}\n`);
  assert.equal(sizes, [0, 4096, 4096, 0]);
  assert.is(drain(reader).length, 10_001 - 8192);
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

/** What is in the pipe, if anything. */
function drain(descriptor: number, most = 1 << 20): string {
  const buffer = Buffer.alloc(most);
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
    throw error;
  }
}

sinks.run();
