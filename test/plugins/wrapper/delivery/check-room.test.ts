import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkRoom } from '../../../../src/plugins/wrapper/prepare-application.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';

const test = suite('room for the secrets in the environment');

const secret = (key: string, length: number) => ({
  key,
  value: Buffer.alloc(length, 'x'),
  path: 'secret/app',
  field: key.toLowerCase(),
});

function refusal(
  lengths: Record<string, number>,
  room: { string: number; total: number },
): SvcError | undefined {
  const delivered = Object.entries(lengths).map(([key, length]) => secret(key, length));
  const strings = delivered.map(({ key, value }) => Buffer.from(`${key}=${value}`));
  try {
    checkRoom(delivered, ['app', ...strings], room);
    return undefined;
  } catch (error) {
    assert.instance(error, SvcError);
    return error as SvcError;
  }
}

test('a variable may fill its room, NUL included', () => {
  assert.is(refusal({ ABC: 15 }, { string: 20, total: 1000 }), undefined);
  const { code, exitStatus, details } = refusal(
    { ABC: 16, D: 1, E: 100 },
    { string: 20, total: 1000 },
  ) as SvcError;
  assert.equal([code, exitStatus, details.length], ['SECRETS_TOO_LARGE', 78, 2]);
  assert.match(details[0] as string, /^secret\/app, field "abc": has 16 bytes/);
});

test('all together may fill theirs, pointers included', () => {
  const exact = 'app'.length + 9 + 'A=xx'.length + 9;
  assert.is(refusal({ A: 2 }, { string: 100, total: exact }), undefined);
  assert.match(refusal({ A: 3 }, { string: 100, total: exact })?.details[0] ?? '', /together have 26 bytes/);
});

test.run();
