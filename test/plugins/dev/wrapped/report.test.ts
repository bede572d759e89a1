import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exampleSecrets, valuesOf } from '../../../../src/plugins/dev/keys/set-up.ts';
import type { Pen } from '../../../../src/plugins/dev/report.ts';
import type { Protection } from '../../../../src/plugins/dev/wrapped/protection.ts';
import {
  wrappedText,
  wrappedTryLines,
  wrapperFailureText,
} from '../../../../src/plugins/dev/wrapped/show-wrapper.ts';
import type { WrappedTrip } from '../../../../src/plugins/dev/wrapped/wrapped-demo.ts';

const test = suite('report on the demonstrated wrapper');

const pen: Pen = { paint: (_style, text) => text, width: 80 };
const secret = (key: string, value: string) => ({ key, available: true, value });
const secrets = [
  secret('DB_USER', 'ap****ab'),
  secret('DB_PASSWORD', '12****89'),
  secret('API_KEY', 'v1****xy'),
];
const source = {
  keyServer: 'http://127.0.0.1:1',
  secrets: exampleSecrets(),
  tokens: { reader: 's.reader', writer: 's.writer' },
};
const tripWith = (protection: Protection, found: number): WrappedTrip => ({
  demo: 'http://127.0.0.1:65535',
  health: 'http://127.0.0.1:65534',
  protection,
  answers: {
    '/': { keys: secrets.map(({ key }) => key), count: 3 },
    '/health': { status: 'ok', delivery: 'memfd_secret' },
    '/protected': { secrets },
  },
  environment: { path: '/proc/4194304/environ', bytes: 100_000, found, of: 3 },
  rotated: { before: secret('API_KEY', 'v1****xy'), after: secret('API_KEY', 'v2****zz') },
});
const best: Protection = { delivery: 'fd', requireMlock: true, concessions: [] };

test('shows the answers as they are, within 80 columns, and no value', () => {
  const text = wrappedText(tripWith(best, 0), source, pen);
  assert.ok(text.split('\n').every((line) => line.length <= 80));
  const [, json = ''] = /GET \/protected +([\s\S]*?)\n\n/.exec(text) ?? [];
  assert.equal(JSON.parse(json), { secrets });
  assert.match(text, /holds: none of the 3 values/);
  assert.match(text, /secret\/demo\/api: no restart/);
  for (const value of valuesOf(source.secrets)) assert.not.ok(text.includes(value));
});

test('says what was left out, broken into lines', () => {
  const reason = `A reason ${'of many words '.repeat(20)}`.trim();
  const protection = { delivery: 'env', requireMlock: false, concessions: [`${reason}. So be it.`] } as const;
  const text = wrappedText(tripWith(protection, 3), source, pen);
  assert.ok(text.split('\n').every((line) => line.length <= 80));
  assert.ok(text.replace(/\s+/g, ' ').includes(`${reason}. So be it.`));
  assert.match(text, /holds: 3 of the 3 values/);
  assert.match(text, /the demo was restarted/);
  assert.match(wrapperFailureText('It failed', pen), / {3}It failed\. The key server, .* keep running\./);
});

test('other secrets at each start', () => {
  const [one, other] = [valuesOf(exampleSecrets()), valuesOf(exampleSecrets())];
  assert.is(new Set([...one, ...other]).size, 6);
});

test('a line that changes a secret, one that shows it', () => {
  const { change, see } = wrappedTryLines(source, 'http://127.0.0.1:2');
  assert.is(
    change,
    `curl -s -H 'X-Vault-Token: s.writer' -d '{"data":{"API_KEY":"v3-by-hand"}}' http://127.0.0.1:1/v1/secret/data/demo/api`,
  );
  assert.is(see, 'curl -s http://127.0.0.1:2/protected');
});

test.run();
