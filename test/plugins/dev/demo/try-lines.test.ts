import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tryLines } from '../../../../src/plugins/dev/report.ts';
import type { Facts } from '../../../../src/plugins/dev/round-trip.ts';

const test = suite('lines to try');

const facts: Facts = {
  proxy: 'http://127.0.0.1:8190',
  health: 'http://127.0.0.1:8191',
  keyServer: 'http://127.0.0.1:1',
  store: 'http://127.0.0.1:2',
  peek: 'http://127.0.0.1:2/_peek',
  dataFolder: undefined,
  client: { region: 'r', accessKeyId: 'AK', secretAccessKey: 'SK' },
};
const aws =
  'AWS_ACCESS_KEY_ID=AK AWS_SECRET_ACCESS_KEY=SK AWS_DEFAULT_REGION=r aws --endpoint-url http://127.0.0.1:8190 s3 cp';

test('copy the README where there is one', () => {
  const { write, read, look } = tryLines(facts, true);
  assert.is(write, `${aws} README.md s3://dev/README.md`);
  assert.is(read, `${aws} s3://dev/README.md -`);
  assert.match(look, /^curl -s -r 0-159 http:\/\/127\.0\.0\.1:2\/_peek\/dev\/README\.md \|/);
});

test('need no file elsewhere', () => {
  const { write, read } = tryLines(facts, false);
  assert.is(write, `echo 'for my eyes only' | ${aws} - s3://dev/note.txt`);
  assert.is(read, `${aws} s3://dev/note.txt -`);
});

test.run();
