import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JoinedOutput } from './joined-output.ts';

const test = suite('joined output');

test('keeps lines whole that come in pieces of two streams', () => {
  const output = new JoinedOutput();
  output.add('cannot write: Read-', 'stderr');
  output.add('argv YQ==\ndig', 'stdout');
  output.add('only\n', 'stderr');
  output.add('est Yg==\n', 'stdout');
  assert.is(output.text, 'argv YQ==\ncannot write: Read-only\ndigest Yg==\n');
});

test('has what was begun, too, a line each', () => {
  const output = new JoinedOutput();
  output.add('one\nand ', 'stdout');
  output.add('other', 'stderr');
  assert.is(output.text, 'one\nand \nother');
});

test.run();
