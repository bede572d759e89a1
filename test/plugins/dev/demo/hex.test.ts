import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hexLines } from '../../../../src/plugins/dev/report.ts';

const test = suite('hex dump');

test('sixteen bytes a line, each region on lines of its own', () => {
  const lines = hexLines([
    { name: 'nonce', bytes: Buffer.from('012') },
    { name: 'ciphertext', bytes: Buffer.from('abcdefghijklmnopq') },
    { name: 'nothing', bytes: Buffer.alloc(0) },
  ]);
  assert.equal(
    lines.map(({ name, region, hex, text }) => [name, region, hex.trimEnd(), text]),
    [
      ['nonce', 'nonce', '30 31 32', '012'],
      ['ciphertext', 'ciphertext', '61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70', 'abcdefghijklmnop'],
      ['', 'ciphertext', '71', 'q'],
    ],
  );
  assert.ok(lines.every(({ hex }) => hex.length === 47));
});

test('what a terminal would act on is a dot', () => {
  const [line] = hexLines([{ name: 'x', bytes: Buffer.from([0, 27, 10, 127, 128, 255, 32, 126]) }]);
  assert.is(line?.text, '...... ~');
  assert.is(line?.hex.trimEnd(), '00 1b 0a 7f 80 ff 20 7e');
});

test.run();
