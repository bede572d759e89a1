import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createSecretRegistry } from '../../../src/runtime/logging/secrets.ts';

const redaction = suite('redaction of secrets');
const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary' });
const halfPair = '\ud800'.repeat(8);
/** Long enough that what base64 leaves over at the ends gives nothing away. */
const token = fc.string({ minLength: 12, maxLength: 60, unit: fc.constantFrom(...'abcXYZ0189./+=-_%&"\\ ') });

redaction('replaces a secret as it is and in every encoding', () => {
  const encodings: ((text: string) => string)[] = [
    (text) => text,
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => encodeURIComponent(text),
    (text) => Buffer.from(text).toString('hex'),
    (text) => Buffer.from(text).toString('hex').toUpperCase(),
  ];
  fc.assert(
    fc.property(token, fc.constantFrom(...encodings), (value, encode) => {
      const registry = createSecretRegistry();
      registry.register(value);
      assert.is(registry.redact(`<${encode(value)}>`), '<[redacted]>');
    }),
  );
});

redaction('replaces it within longer base64, at any offset', () => {
  const bytes = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(
      bytes,
      token,
      bytes,
      fc.constantFrom('base64' as const, 'base64url' as const),
      (before, value, after, form) => {
        const registry = createSecretRegistry();
        registry.register(value);
        const clean = registry.redact(Buffer.from(before + value + after).toString(form));
        assert.match(clean, '[redacted]');
        const rest = clean.split('[redacted]').map((part) => Buffer.from(part, form).toString('latin1'));
        assert.not.ok(rest.some((part) => part.includes(value.slice(2, -2))));
      },
    ),
  );
});

redaction('takes any text without throwing', () => {
  fc.assert(
    fc.property(secret, fc.string(), (value, text) => {
      const registry = createSecretRegistry();
      registry.register(value);
      assert.not.ok(registry.redact(`${text}${value}${text}`).includes(value));
    }),
  );
});

redaction('takes a value that is not well-formed', () => {
  const registry = createSecretRegistry();
  registry.register(halfPair);
  assert.is(registry.redact(halfPair), '[redacted]');
});

redaction('leaves text alone that holds no secret, and does not blot out short words', () => {
  const registry = createSecretRegistry();
  registry.register('root');
  registry.register('hvs.4711-4711');
  assert.is(registry.redact('the root of hvs.4711'), 'the root of hvs.4711');
});

redaction('forgets a value that was replaced, and keeps one registered twice', () => {
  const registry = createSecretRegistry();
  const forget = registry.register('hvs.4711-4711');
  registry.register('hvs.4711-4711');
  forget();
  assert.is(registry.redact('hvs.4711-4711'), '[redacted]');
});

redaction.run();
