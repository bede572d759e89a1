import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { httpUrl } from '../../../src/runtime/settings/setting.ts';

const urls = suite('URLs in settings');
const { parse } = httpUrl('https://vault.example.eu:8200');

urls('reads absolute http and https URLs', () => {
  assert.is(parse('https://vault.example.eu:8200').href, 'https://vault.example.eu:8200/');
  assert.is(parse('http://[::1]:8200/base').pathname, '/base');
  assert.is(parse('HTTPS://A.eu').host, 'a.eu');
});

urls('refuses other schemes, credentials, queries, fragments and relative ones', () => {
  const wrong = [
    '',
    'vault:8200',
    '//vault:8200',
    'ftp://a',
    'https://',
    'https:/a',
    'https:a',
    'javascript:1',
  ];
  const risky = [
    'https://user:pass@a',
    'https://user@a',
    'https://a?x=1',
    'https://a#f',
    'https://a b',
    ' https://a',
  ];
  for (const text of [...wrong, ...risky, 'https://a:99999', 'https://a\\b', 'https://@a']) {
    assert.throws(() => parse(text), /without credentials/, text);
  }
});

urls.run();
