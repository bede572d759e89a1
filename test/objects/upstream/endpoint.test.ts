import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endpointOf } from '../../../src/objects/upstream/s3-upstream.ts';

const test = suite('store endpoint');

const of = (url: string) => endpointOf(new URL(url));

test('default ports are connected to and not named', () => {
  assert.is(of('https://s3.eu-central-1.amazonaws.com').port, 443);
  assert.is(of('https://s3.eu-central-1.amazonaws.com').authority, 's3.eu-central-1.amazonaws.com');
  assert.is(of('http://store').port, 80);
  assert.is(of('http://store:80').authority, 'store');
});

test('other ports are named', () => {
  assert.is(of('https://store:9000').authority, 'store:9000');
  assert.is(of('https://store:9000').port, 9000);
  assert.is(of('https://store:80').authority, 'store:80');
});

test('an IPv6 address is connected to without brackets and named with them', () => {
  assert.is(of('http://[::1]:9000').host, '::1');
  assert.is(of('http://[::1]:9000').authority, '[::1]:9000');
});

test('paths stand below the base path, encoded', () => {
  assert.is(of('http://store/s3/').path('b', 'ä é/x+y'), '/s3/b/%C3%A4%20%C3%A9/x%2By');
  assert.is(of('http://store').path('b', ''), '/b');
  assert.is(of('http://store').path('', ''), '/');
  assert.is(of('http://store').path('b', 'a//../b'), '/b/a//../b');
});

test.run();
