import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accessesTo, endpointsFor, mayLeadTo, parseMirrors } from '../../../src/cluster/images/endpoint.ts';
import { parseImageReference } from '../../../src/cluster/images/reference.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';

const test = suite('where images are looked up');

const places = (image: string, mirrors: readonly string[] = []) =>
  endpointsFor(parseImageReference(image), parseMirrors(mirrors)).map(
    ({ origin, repository, name }) => `${origin.origin} ${repository} ${name}`,
  );

test('is the registry, by HTTPS unless it is on this machine', () => {
  assert.equal(places('nginx'), ['https://registry-1.docker.io library/nginx docker.io/library/nginx']);
  assert.equal(places('ghcr.io/a/b'), ['https://ghcr.io a/b ghcr.io/a/b']);
  assert.equal(places('r.example:5000/a'), ['https://r.example:5000 a r.example:5000/a']);
  assert.equal(places('localhost:5000/a'), ['http://localhost:5000 a localhost:5000/a']);
  assert.equal(places('[::1]:5000/a'), ['http://[::1]:5000 a [::1]:5000/a']);
  assert.equal(places('10.0.0.1:5000/a'), ['https://10.0.0.1:5000 a 10.0.0.1:5000/a']);
});

test('is a mirror before that', () => {
  const mirrors = [
    'docker.io=https://m.example',
    'docker.io=https://h.example/hub/',
    'ghcr.io=https://o.example/v2/g',
  ];
  assert.equal(places('nginx:1', mirrors), [
    'https://m.example library/nginx m.example/library/nginx',
    'https://h.example hub/library/nginx h.example/hub/library/nginx',
    'https://registry-1.docker.io library/nginx docker.io/library/nginx',
  ]);
  assert.equal(places('ghcr.io/a/b', mirrors)[0], 'https://o.example g/a/b o.example/g/a/b');
  assert.is(places('quay.io/a/b', mirrors).length, 1);
  assert.is(places('index.docker.io/a/b', ['index.docker.io=https://m.example']).length, 2);
});

test('is written so that every error is named', () => {
  const items = [
    'docker.io',
    'docker.io=m.example',
    'r.example=http://m.example',
    'Not a host=https://m.example',
    'a=https://m.example',
    'docker.io=https://u:p@m.example',
    'ok.example=https://m.example',
  ];
  try {
    parseMirrors(items);
  } catch (error) {
    const { code, exitStatus, details } = error as SvcError;
    assert.equal([code, exitStatus, details.length], ['REGISTRY_MIRRORS', 78, 6]);
    return;
  }
  assert.unreachable();
});

test('is tried as those who are known there, then as anybody', () => {
  const credentials = [
    { key: 'docker.io', username: 'hub', password: 'p' },
    { key: 'm.example', username: 'mirror', password: 'p' },
    { key: 'other.example', username: 'other', password: 'p' },
  ];
  const mirrors = parseMirrors(['docker.io=https://m.example']);
  const tried = accessesTo(parseImageReference('nginx'), mirrors, credentials).map(
    ({ endpoint, credential }) => `${endpoint.origin.host} ${credential?.username}`,
  );
  assert.equal(tried, [
    'm.example mirror',
    'm.example undefined',
    'registry-1.docker.io hub',
    'registry-1.docker.io undefined',
  ]);
});

test('leads elsewhere by HTTPS only, and to this machine only from there', () => {
  const [remote] = endpointsFor(parseImageReference('r.example/a'), new Map());
  const [local] = endpointsFor(parseImageReference('localhost:5000/a'), new Map());
  const may = (from: typeof remote, to: string) => from !== undefined && mayLeadTo(from, new URL(to));
  assert.ok(may(remote, 'https://cdn.example/x'));
  assert.ok(may(local, 'http://127.0.0.1:9/x'));
  assert.ok(may(local, 'https://cdn.example/x'));
  for (const url of [
    'http://cdn.example',
    'https://localhost',
    'https://127.0.0.1',
    'https://[::1]',
    'https://u@cdn.example',
    'file:///x',
  ])
    assert.not(may(remote, url), url);
  assert.not(may(local, 'http://10.0.0.1/x'));
});

test.run();
