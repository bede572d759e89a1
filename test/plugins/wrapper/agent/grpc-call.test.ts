import { once } from 'node:events';
import http2 from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GrpcError, unaryCall } from '../../../../src/plugins/wrapper/agent/grpc-call.ts';
import { frameFlag, frameType, writeFrame } from '../../../../src/plugins/wrapper/agent/http2-frames.ts';
import { encodeHeaders } from '../../../../src/plugins/wrapper/agent/http2-headers.ts';
import { frame, type GrpcStatus } from '../../../../src/runtime/protocols/grpc.ts';
import { message, readFields, string } from '../../../../src/runtime/protocols/protobuf.ts';
import { startNodeAgent } from '../../../support/node-agent.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const METHOD = '/svc.agent.v1.NodeAgent/Register';
const folder = temporaryFolder('grpc');
const LONG = 60_000;
let sockets = 0;

const nextSocket = () => join(folder.path, `${++sockets}.sock`);

function ask(
  socketPath: string,
  options: { timeoutMs?: number; signal?: AbortSignal; method?: string } = {},
) {
  const request = message(string(1, 'pod-1'));
  return unaryCall({ socketPath, method: METHOD, request, timeoutMs: LONG, ...options });
}

async function assertStatus(call: Promise<unknown>, status: GrpcStatus, text: RegExp): Promise<void> {
  const error = await call.then(
    () => assert.unreachable('it was answered'),
    (reason) => reason,
  );
  assert.instance(error, GrpcError);
  assert.is(error.status, status, error.message);
  assert.match(error.message, text);
}

async function withServer<T>(
  server: Server | http2.Http2Server,
  work: (path: string) => Promise<T>,
  path = nextSocket(),
): Promise<T> {
  const open = new Set<Socket>();
  (server as Server).on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
  });
  server.listen(path);
  await once(server, 'listening');
  try {
    return await work(path);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
  }
}

const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const withStream = <T>(
  onStream: (stream: http2.ServerHttp2Stream) => void,
  work: (path: string) => Promise<T>,
  path?: string,
) =>
  withServer(
    http2.createServer().on('stream', (stream) => onStream(stream.on('error', () => undefined))),
    work,
    path,
  );

/** Answers with this body, in pieces of one byte if asked, and the status in trailers. */
function answerWith(stream: http2.ServerHttp2Stream, body: Uint8Array, status = '0', pieces = false): void {
  stream.respond(OK, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
  if (pieces) for (const byte of body) stream.write(Buffer.of(byte));
  stream.end(pieces ? undefined : body);
}

const OK = { ':status': 200, 'content-type': 'application/grpc' };
const calls = suite('unary gRPC calls');
calls.after(() => folder.remove());

calls('a server of another make answers', async () => {
  const agent = await startNodeAgent();
  const answer = readFields(await ask(agent.address.slice('unix://'.length)));
  await agent.stop();
  assert.is(answer.string(4), '9.8.7-test');
  assert.is(agent.requests[0]?.message['pod_uid'], 'pod-1');
});

calls('works in the abstract namespace', async () => {
  const name = `\0svc-test-grpc-${process.pid}`;
  const answer = await withStream(
    (stream) => answerWith(stream, frame(message(string(4, '1.2.3')))),
    () => ask(name),
    name,
  );
  assert.is(readFields(answer).string(4), '1.2.3');
});

calls('a refusal comes with its status and text', async () => {
  const agent = await startNodeAgent({
    answer: { code: 'PERMISSION_DENIED', details: 'not your pod: grün' },
  });
  const path = agent.address.slice('unix://'.length);
  await assertStatus(ask(path), 'PERMISSION_DENIED', /^PERMISSION_DENIED: not your pod: grün$/);
  await assertStatus(ask(path, { method: '/svc.agent.v1.NodeAgent/Other' }), 'UNIMPLEMENTED', /Other/);
  await agent.stop();
});

calls('an agent that never answers: the time is up', async () => {
  const agent = await startNodeAgent({ answer: 'hang' });
  await assertStatus(
    ask(agent.address.slice('unix://'.length), { timeoutMs: 100 }),
    'DEADLINE_EXCEEDED',
    /within 100 ms/,
  );
  await agent.stop();
});

calls('a socket that accepts and says nothing: the time is up', () =>
  withServer(createServer(), (path) =>
    assertStatus(ask(path, { timeoutMs: 100 }), 'DEADLINE_EXCEEDED', /within 100 ms/),
  ),
);

calls('nobody there: unavailable, with the reason', async () => {
  await assertStatus(ask(join(folder.path, 'absent.sock')), 'UNAVAILABLE', /^UNAVAILABLE: ENOENT$/);
});

calls('aborted before and during the call: rejects with the reason', async () => {
  const reason = new Error('stopping');
  const before = await ask(nextSocket(), { signal: AbortSignal.abort(reason) }).catch((error) => error);
  assert.is(before, reason);
  const stop = new AbortController();
  const during = await withStream(
    () => stop.abort(reason),
    (path) => ask(path, { signal: stop.signal }).catch((error) => error),
  );
  assert.is(during, reason);
});

calls('a connection that is closed at once, or in the middle, is unavailable', async () => {
  const closing = createServer((socket) => socket.destroy());
  await withServer(closing, (path) => assertStatus(ask(path), 'UNAVAILABLE', /./));
  const midway = (stream: http2.ServerHttp2Stream) => {
    stream.respond(OK);
    stream.write(frame(new Uint8Array(3)), () => stream.session?.socket.destroy());
  };
  await withStream(midway, (path) => assertStatus(ask(path), 'UNAVAILABLE', /./));
});

calls('a server that says goodbye before it looked at the call is unavailable', () => {
  const settings = '000000' + '04' + '00' + '00000000';
  const goodbye = '000008' + '07' + '00' + '00000000' + '00000000' + '00000000';
  return withServer(
    createServer((socket) => socket.write(Buffer.from(settings + goodbye, 'hex'))),
    (path) => assertStatus(ask(path), 'UNAVAILABLE', /./),
  );
});

calls('a server that says goodbye with an error is unavailable', () =>
  withStream(
    (stream) => stream.session?.goaway(http2.constants.NGHTTP2_INTERNAL_ERROR),
    (path) => assertStatus(ask(path), 'UNAVAILABLE', /./),
  ),
);

calls('something that speaks no HTTP/2 is unavailable, and nothing that it says is quoted', () =>
  withServer(
    createServer((socket) => socket.end('HTTP/1.1 200 hunter2\r\n\r\n')),
    async (path) => {
      const error = await ask(path).catch((reason) => reason);
      assert.is(error.status, 'UNAVAILABLE');
      assert.not.match(error.message, /hunter2/);
    },
  ),
);

for (const [name, code, status] of [
  ['refused', http2.constants.NGHTTP2_REFUSED_STREAM, 'UNAVAILABLE'],
  ['cancelled', http2.constants.NGHTTP2_CANCEL, 'CANCELLED'],
  ['broken', http2.constants.NGHTTP2_INTERNAL_ERROR, 'INTERNAL'],
  ['ended without an error', http2.constants.NGHTTP2_NO_ERROR, 'INTERNAL'],
] as const) {
  calls(`a stream that is ${name}: ${status}`, () =>
    withStream(
      (stream) => stream.close(code),
      (path) => assertStatus(ask(path), status, /./),
    ),
  );
}

calls('an HTTP error without a gRPC status', () =>
  withStream(
    (stream) => {
      stream.respond({ ':status': 503 });
      stream.end('busy');
    },
    (path) => assertStatus(ask(path), 'UNAVAILABLE', /HTTP status 503/),
  ),
);

const bodies: ReadonlyArray<readonly [string, Uint8Array, GrpcStatus, string]> = [
  ['no message', new Uint8Array(0), 'INTERNAL', '0'],
  ['two messages', Buffer.concat([frame(Buffer.of(8, 1)), frame(Buffer.of(8, 1))]), 'INTERNAL', '0'],
  ['a cut message', frame(Buffer.of(8, 1)).subarray(0, 6), 'INTERNAL', '0'],
  ['a message and a refusal', frame(Buffer.of(8, 1)), 'FAILED_PRECONDITION', '9'],
  ['too much', Buffer.alloc(100_000), 'RESOURCE_EXHAUSTED', '0'],
];
for (const [name, body, status, number] of bodies) {
  calls(`${name}: ${status}`, () =>
    withStream(
      (stream) => answerWith(stream, body, number),
      (path) => assertStatus(ask(path), status, /./),
    ),
  );
}

const settingsFrame = writeFrame(frameType.settings, 0, 0, new Uint8Array(0));
const beginning = writeFrame(frameType.headers, 0, 1, encodeHeaders([[':status', '200']]));
const field = encodeHeaders([['a', '']]);
/** What never ends: frames of nine bytes, and headers of ever other names. */
const floods: Readonly<Record<string, readonly Buffer[]>> = {
  'empty continuations': [
    beginning,
    ...many(2_000, writeFrame(frameType.continuation, 0, 1, new Uint8Array(0))),
  ],
  'empty data': many(2_000, writeFrame(frameType.data, 0, 1, new Uint8Array(0))),
  pings: many(2_000, writeFrame(frameType.ping, 0, 0, new Uint8Array(8))),
  'frames of other streams': many(2_000, writeFrame(frameType.data, 0, 3, new Uint8Array(0))),
  headers: many(2_000, writeFrame(frameType.headers, frameFlag.endHeaders, 1, field)),
};
for (const [name, frames] of Object.entries(floods))
  calls(`${name} without end`, () =>
    withServer(
      createServer((socket) => socket.write(Buffer.concat([settingsFrame, ...frames]))),
      (path) => assertStatus(ask(path), 'RESOURCE_EXHAUSTED', /too many frames/),
    ),
  );

calls('a block of more fields than an answer has', () =>
  withServer(
    createServer((socket) =>
      socket.write(
        Buffer.concat([
          settingsFrame,
          writeFrame(
            frameType.headers,
            frameFlag.endHeaders,
            1,
            Buffer.concat(many(129, Buffer.from(field))),
          ),
        ]),
      ),
    ),
    (path) => assertStatus(ask(path), 'INTERNAL', /too many headers/),
  ),
);

calls('an answer in many small pieces', async () => {
  const body = frame(message(string(4, 'x'.repeat(1_000))));
  const answer = await withStream(
    (stream) => answerWith(stream, body, '0', true),
    (path) => ask(path),
  );
  assert.is(readFields(answer).string(4).length, 1_000);
});

calls('headers in several frames, with padding, and a question in between', async () => {
  const settings = writeFrame(frameType.settings, 0, 0, new Uint8Array(0));
  const block = encodeHeaders([
    [':status', '200'],
    ['grpc-status', '9'],
    ['grpc-message', 'traced'],
  ]);
  const first = Buffer.concat([Buffer.of(2), block.subarray(0, 5), Buffer.alloc(2)]);
  const flags = frameFlag.endStream | frameFlag.padded;
  let acknowledged = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('data', (piece) => {
      acknowledged = Buffer.concat([acknowledged, piece]);
    });
    socket.write(settings);
    socket.write(writeFrame(frameType.ping, 0, 0, Buffer.alloc(8, 5)));
    socket.write(writeFrame(frameType.headers, flags, 1, first));
    const rest = writeFrame(frameType.continuation, frameFlag.endHeaders, 1, block.subarray(5));
    setTimeout(() => socket.write(rest), 50);
  });
  await withServer(server, (path) => assertStatus(ask(path), 'FAILED_PRECONDITION', /: traced$/));
  const reply = writeFrame(frameType.ping, frameFlag.ack, 0, Buffer.alloc(8, 5));
  assert.ok(acknowledged.includes(reply));
  assert.ok(acknowledged.includes(writeFrame(frameType.settings, frameFlag.ack, 0, new Uint8Array(0))));
});

const raw: ReadonlyArray<readonly [string, readonly Buffer[]]> = [
  ['a reset that is cut', [writeFrame(frameType.reset, 0, 1, Buffer.alloc(2))]],
  ['a push', [writeFrame(frameType.push, frameFlag.endHeaders, 1, Buffer.alloc(4))]],
  ['headers that are malformed', [writeFrame(frameType.headers, 5, 1, Buffer.of(0xbe))]],
];
for (const [name, frames] of raw) {
  calls(`${name}: INTERNAL`, () =>
    withServer(
      createServer((socket) => {
        socket.write(Buffer.concat([writeFrame(frameType.settings, 0, 0, new Uint8Array(0)), ...frames]));
      }),
      (path) => assertStatus(ask(path), 'INTERNAL', /./),
    ),
  );
}

calls('endless headers are refused', () => {
  const part = writeFrame(frameType.continuation, 0, 1, Buffer.alloc(10_000));
  const parts = [
    writeFrame(frameType.settings, 0, 0, new Uint8Array(0)),
    writeFrame(1, 0, 1, Buffer.alloc(9)),
    part,
  ];
  return withServer(
    createServer((socket) => socket.write(Buffer.concat([...parts, part]))),
    (path) => assertStatus(ask(path), 'RESOURCE_EXHAUSTED', /headers/),
  );
});

calls('a request of more than one frame is refused before it is sent', async () => {
  const call = { socketPath: nextSocket(), method: METHOD, request: new Uint8Array(16_384), timeoutMs: LONG };
  assert.instance(await unaryCall(call).catch((error) => error), RangeError);
});

calls('an answer without a status is none', () =>
  withStream(
    (stream) => {
      stream.respond(OK);
      stream.end(frame(new Uint8Array(0)));
    },
    (path) => assertStatus(ask(path), 'INTERNAL', /no status/),
  ),
);

calls.run();
