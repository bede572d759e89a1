import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RequestHead, writeRequest } from '../../../../src/runtime/net/http1.ts';
import { HttpError } from '../../../../src/runtime/net/http1-chunked-body.ts';
import { plainSink } from './plain-sink.ts';

const requests = suite('HTTP requests as bytes');

const head: RequestHead = { method: 'GET', path: '/v1/secret/app', host: 'vault:8200', headers: [] };

function written(changes: Partial<RequestHead>, body?: readonly string[]): string {
  const sink = plainSink();
  const parts = body?.map((part) => Buffer.from(part));
  writeRequest({ ...head, ...changes }, parts, sink);
  return Buffer.from(sink.bytes).toString('latin1');
}

requests('a request without a body', () => {
  const text = written({ headers: [['X-Vault-Token', Buffer.from('s.token')]] });
  assert.is(text, 'GET /v1/secret/app HTTP/1.1\r\nHost: vault:8200\r\nX-Vault-Token: s.token\r\n\r\n');
});

requests('a body in parts', () => {
  const text = written({ method: 'POST', headers: [['Content-Type', 'application/json']] }, ['{"a":', '1}']);
  assert.match(text, /\r\nContent-Type: application\/json\r\nContent-Length: 7\r\n\r\n\{"a":1\}$/);
  assert.match(written({ method: 'POST' }, []), /\r\nContent-Length: 0\r\n\r\n$/);
});

requests('nothing breaks out of its line', () => {
  const bad: Partial<RequestHead>[] = [
    { method: 'GET ' },
    { path: '/a b' },
    { path: '/a\r\nX: y' },
    { path: '/é' },
    { host: 'a\nb' },
    { host: '' },
    { headers: [['X Y', 'z']] },
    { headers: [['X:', 'z']] },
    { headers: [['X', 'a\rb']] },
    { headers: [['X', 'a\0b']] },
    { headers: [['X', Buffer.from('a\nb')]] },
    { headers: [['X', Buffer.from('a b')]] },
    { headers: [['X', Buffer.from('é')]] },
  ];
  for (const changes of bad) {
    assert.throws(
      () => written(changes),
      (error: unknown) => error instanceof HttpError,
      JSON.stringify(changes),
    );
  }
});

requests.run();
