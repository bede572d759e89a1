import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createProgress } from '../../../src/runtime/cli/terminal.ts';

const test = suite('progress');

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
}

test('is one line of a terminal, taken away at the end', () => {
  const terminal = screen(true);
  const progress = createProgress(terminal, { TERM: 'xterm' });
  progress.clear();
  progress.show('Reading …');
  progress.show('Writing …');
  progress.clear();
  progress.clear();
  assert.equal(terminal.written, ['\r\x1b[2KReading …', '\r\x1b[2KWriting …', '\r\x1b[2K']);
});

test('is nothing elsewhere', () => {
  for (const [isTTY, TERM] of [
    [false, 'xterm'],
    [true, 'dumb'],
  ] as const) {
    const other = screen(isTTY);
    const progress = createProgress(other, { TERM });
    progress.show('Reading …');
    progress.clear();
    assert.equal(other.written, []);
  }
});

test.run();
