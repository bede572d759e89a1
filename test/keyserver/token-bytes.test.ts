import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../src/keyserver/contract.ts';
import { readTokenBytes } from '../../src/keyserver/token-bytes.ts';
import { plainMemory } from '../support/plain-memory.ts';
import { temporaryFolder } from '../support/temporary.ts';

const tokens = suite('tokens as bytes');
const folder = temporaryFolder('token-bytes');
const file = join(folder.path, 'token');

tokens.after(() => folder.remove());

function read(text: string) {
  writeFileSync(file, text);
  const memory = plainMemory();
  return { memory, token: readTokenBytes(file, 'token', memory) };
}

tokens('white space at the ends is dropped', () => {
  for (const text of ['s.token', 's.token\n', ' \t s.token\r\n\n']) {
    assert.is(Buffer.from(read(text).token.bytes).toString(), 's.token');
  }
  const long = 'x'.repeat(50_000);
  assert.is(Buffer.from(read(`${long}\n`).token.bytes).toString(), long);
});

tokens('release leaves nothing behind', () => {
  const { memory, token } = read('s.token');
  assert.is(memory.held(), 1);
  token.release();
  assert.is(memory.held(), 0);
  assert.is(memory.everything().indexOf('token'), -1);
});

tokens('what cannot be a token may become one later', () => {
  for (const [text, fault] of [
    ['', /is empty/],
    [' \n', /is empty/],
    ['s.to ken', /holds something else/],
    ['s.tökén', /holds something else/],
    ['s.token\0', /holds something else/],
    ['x'.repeat(70_000), /cannot be read \(EFBIG\)/],
  ] as const) {
    const error = failure(() => read(text));
    assert.match(error.message, fault);
    assert.not.match(error.message, /s\.t/);
  }
});

tokens('a file that cannot be read is named', () => {
  const absent = join(folder.path, 'absent');
  assert.match(failure(() => readTokenBytes(absent, 'token', plainMemory())).message, /absent.*ENOENT/);
  mkdirSync(absent);
  assert.match(failure(() => readTokenBytes(absent, 'token', plainMemory())).message, /EISDIR/);
});

function failure(action: () => unknown): VaultError {
  try {
    action();
  } catch (error) {
    assert.instance(error, VaultError);
    assert.is((error as VaultError).kind, 'unavailable');
    return error as VaultError;
  }
  return assert.unreachable('should have thrown') as never;
}

tokens.run();
