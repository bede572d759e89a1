import type { KeyObject } from 'node:crypto';
import { invalidValue, type Parser } from '../settings/setting.ts';
import { readRecipient } from './age-keys.ts';
import { rawPublicKey } from './x25519.ts';

/** The envelope's header holds as many. */
const maxRecipients = 8;
const expects = `up to ${maxRecipients} public keys, age1… or 32 bytes in base64, separated by commas`;

/** Up to eight distinct public keys. */
export const recipientList = (): Parser<readonly KeyObject[]> => ({
  expects,
  parse(given) {
    const keys = textsOf(given).map((one) => readRecipient(one) ?? refuse(given));
    const different = new Set(keys.map((key) => rawPublicKey(key).toString('hex')));
    return keys.length <= maxRecipients && different.size === keys.length ? keys : invalidValue(expects);
  },
});

/** The same list as text, unchanged. */
export const recipientTexts = (): Parser<readonly string[]> => ({
  expects,
  parse(given) {
    recipientList().parse(given);
    return textsOf(given);
  },
});

const textsOf = (given: string): readonly string[] => given.split(',').map((one) => one.trim());

/** Private and public keys are easily confused, and a private key that was written here must be replaced. */
const refuse = (given: string): never =>
  invalidValue(
    /age-secret-key-1/i.test(given)
      ? 'a private key is among them: replace it, and name public keys'
      : expects,
  );
