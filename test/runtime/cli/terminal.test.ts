import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasColour, ignoreBrokenPipes, painter, widthOf } from '../../../src/runtime/cli/terminal.ts';

const terminal = suite('terminal');
const TTY = { isTTY: true, columns: 120 };
const PIPE = {};

terminal('has colour on a terminal and not in a pipe', () => {
  assert.is(hasColour(TTY, { TERM: 'xterm' }), true);
  assert.is(hasColour(PIPE, { TERM: 'xterm' }), false);
  assert.is(hasColour(TTY, { TERM: 'dumb' }), false);
});

terminal('is told by FORCE_COLOR, and above it by NO_COLOR', () => {
  assert.is(hasColour(PIPE, { FORCE_COLOR: '1' }), true);
  assert.is(hasColour(TTY, { FORCE_COLOR: '0' }), false);
  assert.is(hasColour(TTY, { NO_COLOR: '1', FORCE_COLOR: '1' }), false);
  assert.is(hasColour(TTY, { NO_COLOR: '' }), true);
});

terminal('is as wide as it is told, as the terminal is, or 80', () => {
  assert.is(widthOf(TTY, {}), 120);
  assert.is(widthOf(PIPE, {}), 80);
  assert.is(widthOf(TTY, { COLUMNS: '60' }), 60);
  assert.is(widthOf(TTY, { COLUMNS: 'wide' }), 120);
  assert.is(widthOf({ columns: 3 }, {}), 40);
});

terminal('paints only where there is colour', () => {
  assert.is(painter(PIPE, {})('red', 'x'), 'x');
  assert.is(painter(TTY, {})('red', 'x'), '\u001b[31mx\u001b[39m');
});

terminal('takes a reader that left for granted, and nothing else', () => {
  const stream = new EventEmitter() as NodeJS.WriteStream;
  ignoreBrokenPipes(stream);
  stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
  const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' });
  assert.throws(() => stream.emit('error', full), /disk full/);
});

terminal('survives writing to a closed pipe', () => {
  const module = new URL('../../../src/runtime/cli/terminal.ts', import.meta.url).href;
  const source = `import { ignoreBrokenPipes } from '${module}';
    ignoreBrokenPipes(process.stdout);
    for (let i = 0; i < 3; i += 1) { process.stdout.write('x'.repeat(100000)); await new Promise((r) => setTimeout(r, 20)); }
    console.error('reached the end');`;
  const line = '"$NODE" --input-type=module -e "$SOURCE" | true';
  const env = { ...process.env, NODE: process.execPath, SOURCE: source };
  const { stderr, status } = spawnSync('bash', ['-o', 'pipefail', '-c', line], { env, encoding: 'utf8' });
  assert.is(stderr.trim(), 'reached the end');
  assert.is(status, 0);
});

terminal.run();
