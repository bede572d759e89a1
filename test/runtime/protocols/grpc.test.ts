import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  frame,
  singleFrame,
  statusMessage,
  statusOfHttp,
  statusOfNumber,
  statusOfReset,
  unixSocketPath,
} from '../../../src/runtime/protocols/grpc.ts';

const core = suite('gRPC without I/O');

core('a frame holds what was put into it, wherever it lies in memory', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70_000 }), fc.nat(9), (message, before) => {
      const within = Buffer.concat([Buffer.alloc(before), frame(message)]).subarray(before);
      assert.equal([...(singleFrame(within) ?? [])], [...message]);
    }),
    { numRuns: 30 },
  );
});

for (const [name, hex] of [
  ['nothing', ''],
  ['less than a header', '00000000'],
  ['a cut message', '0000000002aa'],
  ['more than one message', '0000000000' + '0000000000'],
  ['a compressed message', '0100000000'],
] as const) {
  core(`${name} is no single frame`, () => {
    assert.is(singleFrame(Buffer.from(hex, 'hex')), undefined);
  });
}

core('statuses by number; unknown ones are UNKNOWN', () => {
  const named = ['0', '7', '9', '14', '16'].map(statusOfNumber);
  assert.equal(named, ['OK', 'PERMISSION_DENIED', 'FAILED_PRECONDITION', 'UNAVAILABLE', 'UNAUTHENTICATED']);
  for (const odd of ['17', '99', '-1', '', 'OK', '0x7', '1e0'])
    assert.is(statusOfNumber(odd), 'UNKNOWN', odd);
});

core('statuses of HTTP and of resets', () => {
  assert.equal([400, 401, 403, 404, 429, 502, 503, 504, 500, 302].map(statusOfHttp), [
    'INTERNAL',
    'UNAUTHENTICATED',
    'PERMISSION_DENIED',
    'UNIMPLEMENTED',
    ...['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'],
    ...['UNKNOWN', 'UNKNOWN'],
  ]);
  assert.equal([7, 8, 11, 12, 0, 2].map(statusOfReset), [
    ...['UNAVAILABLE', 'CANCELLED', 'RESOURCE_EXHAUSTED', 'PERMISSION_DENIED', 'INTERNAL', 'INTERNAL'],
  ]);
});

core("a server's text is decoded, bounded and stays on one line", () => {
  assert.is(statusMessage('traced%20by%20gr%C3%BCn'), 'traced by grün');
  assert.is(statusMessage('100% cut %C3'), '100% cut %C3');
  assert.is(statusMessage('one%0Atwo%0D%1B[31m'), 'one two [31m');
  assert.is(statusMessage('x'.repeat(9_000)).length, 500);
});

core('addresses of Unix sockets', () => {
  assert.equal(
    ['unix:///run/svc/agent.sock', 'unix:/run/a', 'unix:relative/a', 'unix-abstract:name'].map(
      unixSocketPath,
    ),
    ['/run/svc/agent.sock', '/run/a', 'relative/a', '\0name'],
  );
  for (const odd of ['', 'unix:', 'unix://host/path', 'unix-abstract:', '/run/a', 'http://a', 'unix:a\0b'])
    assert.is(unixSocketPath(odd), undefined, odd);
});

core.run();
