import { once } from 'node:events';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  clientPreface,
  FrameReader,
  frameContent,
  frameFlag,
  frameType,
  Http2Error,
  type Http2Frame,
  writeFrame,
} from '../../../../src/plugins/wrapper/agent/http2-frames.ts';
import {
  decodeHeaders,
  decodeHuffman,
  encodeHeaders,
  staticField,
} from '../../../../src/plugins/wrapper/agent/http2-headers.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const isHttp2Error = (error: Error) => error instanceof Http2Error;
const name = fc.stringMatching(/^x-[a-z0-9-]{1,200}$/);
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const latin1 = fc.string({
  unit: fc.integer({ min: 0xa0, max: 0xff }).map((code) => String.fromCharCode(code)),
  minLength: 1,
});

const folder = temporaryFolder('http2');
const socketPath = join(folder.path, 'socket');
let headersToSend: Record<string, string> = {};
let headersReceived: http2.IncomingHttpHeaders = {};
const server = http2.createServer((request, response) => {
  headersReceived = request.headers;
  response.writeHead(200, headersToSend).end();
});

/** What node:http2 received of, and answered to, these headers. */
async function exchange(fields: Parameters<typeof encodeHeaders>[0]): Promise<Map<string, string>> {
  const socket = connect(socketPath);
  const request = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'a'],
    ...fields,
  ] as const;
  const noTable = hex('000100000000');
  const flags = frameFlag.endHeaders | frameFlag.endStream;
  socket.write(clientPreface);
  socket.write(writeFrame(frameType.settings, 0, 0, noTable));
  socket.write(writeFrame(frameType.headers, flags, 1, encodeHeaders(request)));
  const reader = new FrameReader();
  try {
    for await (const piece of socket) {
      for (const frame of reader.read(piece)) {
        if (frame.type === frameType.headers) return new Map(decodeHeaders(frameContent(frame)));
      }
    }
  } finally {
    socket.destroy();
  }
  throw new Error('no answer');
}

const tests = suite('HTTP/2 for one call');

tests.before(async () => {
  server.listen(socketPath);
  await once(server, 'listening');
});

tests.after(async () => {
  server.close();
  await folder.remove();
});

tests('headers of another implementation are read, compressed as it likes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.oneof(printable, latin1), { maxKeys: 5 }), async (headers) => {
      headersToSend = { ...headers, 'content-type': 'application/grpc', 'grpc-status': '7' };
      const read = await exchange([]);
      for (const [key, value] of Object.entries(headersToSend)) assert.is(read.get(key), value, key);
      assert.is(read.get(':status'), '200');
    }),
    { numRuns: 60 },
  );
});

tests('another implementation reads the headers that are written', async () => {
  headersToSend = {};
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, printable, { maxKeys: 5 }), async (headers) => {
      await exchange(Object.entries(headers));
      for (const [key, value] of Object.entries(headers)) assert.is(headersReceived[key], value, key);
    }),
    { numRuns: 60 },
  );
});

tests('what is written is read back, short and long', () => {
  const fields = fc.array(fc.tuple(name, fc.string({ unit: latin1, maxLength: 400 })));
  fc.assert(
    fc.property(fields, (all) => {
      assert.equal(decodeHeaders(encodeHeaders(all)), all);
    }),
  );
});

tests('lengths around the borders of their encoding', () => {
  for (const length of [0, 126, 127, 128, 190, 191, 254, 255, 16_510, 16_511]) {
    const fields = [['x', 'v'.repeat(length)]] as const;
    assert.equal(decodeHeaders(encodeHeaders(fields)), fields, String(length));
  }
});

for (const [text, encoded] of [
  ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
  ['no-cache', 'a8eb10649cbf'],
  ['custom-value', '25a849e95bb8e8b4bf'],
  ['302', '6402'],
  ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
  ['', ''],
] as const) {
  tests(`Huffman code of RFC 7541: "${text}"`, () => {
    assert.is(Buffer.from(decodeHuffman(hex(encoded))).toString(), text);
  });
}

tests('the static table has 61 entries', () => {
  assert.equal(staticField(1), [':authority', '']);
  assert.equal(staticField(8), [':status', '200']);
  assert.equal(staticField(16), ['accept-encoding', 'gzip, deflate']);
  assert.equal(staticField(61), ['www-authenticate', '']);
  for (const index of [0, 62, -1]) assert.is(staticField(index), undefined);
});

for (const [what, block] of [
  ['a reference to a dynamic table', 'be'],
  ['a table that was not offered', '3fe11f'],
  ['index 0', '80'],
  ['a cut name', '000561'],
  ['a cut number', 'ff'],
  ['an endless number', 'ffffffffff7f'],
  ['a name alone', '000161'],
  ['Huffman padding of zeroes', '0001618100'],
  ['more than seven bits of padding', '00016182' + 'ffff'],
  ['the end of a string within it', '00016184' + 'ffffffff'],
] as const) {
  tests(`refuses headers with ${what}`, () => {
    assert.throws(() => decodeHeaders(hex(block)), isHttp2Error);
  });
}

tests('any bytes are headers or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decodeHeaders(bytes);
        decodeHuffman(bytes);
      } catch (error) {
        assert.ok(isHttp2Error(error as Error), String(error));
      }
    }),
    { numRuns: 1_000 },
  );
});

tests('frames come out whole, wherever their bytes are cut', () => {
  const sent = [
    writeFrame(frameType.settings, 0, 0, Buffer.alloc(0)),
    writeFrame(frameType.data, frameFlag.endStream, 1, Buffer.from('some data')),
    writeFrame(frameType.ping, 0, 0, Buffer.alloc(8, 7)),
  ];
  const whole = Buffer.concat(sent);
  for (let cut = 0; cut <= whole.length; cut++) {
    const reader = new FrameReader();
    const read = [...reader.read(whole.subarray(0, cut)), ...reader.read(whole.subarray(cut))];
    const again = read.map(({ type, flags, stream, payload }) => writeFrame(type, flags, stream, payload));
    assert.equal(again, sent, `cut at ${cut}`);
  }
});

tests('refuses a frame that is too long', () => {
  assert.throws(() => [...new FrameReader().read(hex('004001000000000001'))], isHttp2Error);
});

tests('padding and priority are no content', () => {
  const frame = (type: number, flags: number, payload: string): Http2Frame => ({
    ...{ type, flags, stream: 1, payload: hex(payload) },
  });
  const content = (one: Http2Frame) => Buffer.from(frameContent(one)).toString('hex');
  assert.is(content(frame(frameType.data, 0, 'aabb')), 'aabb');
  assert.is(content(frame(frameType.data, frameFlag.padded, '02aabb0000')), 'aabb');
  assert.is(content(frame(frameType.headers, frameFlag.priority, '0102030405aa')), 'aa');
  assert.is(
    content(frame(frameType.headers, frameFlag.priority | frameFlag.padded, '010102030405aa00')),
    'aa',
  );
  for (const odd of [
    frame(frameType.data, frameFlag.padded, '03aabb'),
    frame(frameType.headers, 0x28, '0001'),
  ])
    assert.throws(() => frameContent(odd), isHttp2Error);
});

tests.run();
