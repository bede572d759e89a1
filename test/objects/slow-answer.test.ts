import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../src/keyserver/contract.ts';
import type { OperationHandler, ResponseWriter } from '../../src/objects/context.ts';
import { EnvelopeError } from '../../src/objects/format/cipher.ts';
import { s3Error } from '../../src/objects/s3/error.ts';
import { respondSlowly } from '../../src/objects/slow-answer.ts';
import { elementOf, serve } from '../plugins/proxy/support/serve.ts';

const test = suite('answers that take long');

/** A copy whose outcome comes after its answer has begun. */
async function late(outcome: () => Promise<{ xml: string }>) {
  const handler: OperationHandler = (context, exchange) => {
    const begun = Promise.withResolvers<void>();
    const { answer: real } = exchange;
    const answer: ResponseWriter = {
      get started() {
        return real.started;
      },
      head: (status, headers) => real.head(status, headers),
      write: (chunk) => real.write(chunk).finally(begun.resolve),
      end: (last) => real.end(last),
      destroy: (reason) => real.destroy(reason),
    };
    const result = begun.promise.then(outcome).then(({ xml }) => ({ headers: {}, xml }));
    return respondSlowly(context, { ...exchange, log: exchange.log, answer }, result, 10);
  };
  const server = await serve({ CopyObject: handler });
  const headers = { 'x-amz-copy-source': '/bkt/source' };
  const response = await fetch(`${server.url}/bkt/key`, { method: 'PUT', headers });
  const text = await response.text();
  await server.stop();
  return { status: response.status, text, lines: server.lines, counted: server.counted };
}

test('begin with a 200 and end with the result', async () => {
  const { status, text } = await late(async () => ({ xml: '<Result/>' }));
  assert.is(status, 200);
  assert.match(text, /^<\?xml [^>]*>\s+<Result\/>$/);
});

test('a stored object that is refused late is counted and logged like any other', async () => {
  const { status, text, lines, counted } = await late(() =>
    Promise.reject(new EnvelopeError('authentication-failed', 'the tag of the body differs')),
  );
  assert.is(status, 200);
  assert.is(elementOf(text, 'Code'), 'InternalError');
  assert.equal(counted.refused, ['authentication-failed']);
  assert.ok(lines.some(({ event }) => event === 'proxy.object.refused'));
});

test('a policy that turns out late to be missing is named in the log', async () => {
  const path = 'transit/decrypt/svc';
  const { lines } = await late(() => Promise.reject(new VaultError('denied', 'refused', { path })));
  assert.ok(lines.some(({ event, fields }) => event === 'proxy.vault.denied' && fields.path === path));
});

test('what is the caller’s to fix is told late, with the code that it has', async () => {
  const { text, lines } = await late(() => Promise.reject(s3Error('PreconditionFailed')));
  assert.is(elementOf(text, 'Code'), 'PreconditionFailed');
  assert.not.ok(lines.some(({ level }) => level === 'error'));
});

test.run();
