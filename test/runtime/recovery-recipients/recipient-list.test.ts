import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recipientTexts } from '../../../src/runtime/recovery-recipients/recipient-list.ts';
import { ageKey } from '../../support/age-keys.ts';

const test = suite('lists of recovery recipients');

const refusalOf = (given: string): string => {
  try {
    recipientTexts().parse(given);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('a private key anywhere in the text is told as such, and is not repeated', () => {
  const secret = `AGE-SECRET-KEY-1${'Q'.repeat(58)}`;
  const { recipient } = ageKey();
  const file = `# created: today\n# public key: ${recipient}\n${secret}`;
  for (const given of [secret, `"${secret}"`, `${recipient},${secret}`, file]) {
    assert.match(refusalOf(given), /a private key is among them/);
    assert.not.ok(refusalOf(given).includes('QQQQ'));
  }
  assert.not.match(refusalOf('age1nonsense'), /private key/);
});

test.run();
