import type { MethodDefinition } from '@grpc/grpc-js';
import fc from 'fast-check';
import { parseChallenges } from '../../../src/cluster/images/registry-access.ts';
import { ChunkDecoder } from '../../../src/objects/s3/chunk-decoder.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import {
  type NodeReportMessage,
  ReportRefused,
  readReport,
  reportedState,
} from '../../../src/plugins/operator/nodes/read-report.ts';
import {
  FrameReader,
  Http2Error,
  longestFrame,
  writeFrame,
} from '../../../src/plugins/wrapper/agent/http2-frames.ts';
import { decodeHeaders, encodeHeaders } from '../../../src/plugins/wrapper/agent/http2-headers.ts';
import { ResponseParser } from '../../../src/runtime/net/http1.ts';
import { HttpError } from '../../../src/runtime/net/http1-chunked-body.ts';
import { loadProtoService } from '../../../src/runtime/net/load-proto.ts';
import {
  bool,
  embedded,
  message,
  ProtobufError,
  readFields,
  string,
  unsigned,
} from '../../../src/runtime/protocols/protobuf.ts';
import {
  currentGeneration,
  indexRecords,
} from '../../../src/runtime/protocols/secret-records/region-layout.ts';
import type { UntrustedInput } from './types.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

const repeated =
  (bytes: number, piece: Uint8Array | string, before = '', after = '') =>
  (): Buffer => {
    const unit = Buffer.from(piece as string);
    const times = Math.max(0, Math.floor((bytes - before.length - after.length) / unit.length));
    return Buffer.concat([Buffer.from(before), Buffer.alloc(times * unit.length, unit), Buffer.from(after)]);
  };

const isOf =
  (...kinds: readonly (new (...values: never[]) => Error)[]) =>
  (error: unknown): boolean =>
    kinds.some((kind) => error instanceof kind);

/** Some pieces in any order, cut or followed by noise. */
const mixed = (pieces: readonly fc.Arbitrary<Uint8Array>[], before = Buffer.alloc(0)): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.array(fc.oneof(...pieces), { maxLength: 200 }), fc.nat(50), fc.boolean())
    .map(([parts, cut, isCut]) => {
      const whole = Buffer.concat([before, ...parts]);
      return isCut ? whole.subarray(0, Math.max(0, whole.length - cut)) : whole;
    });

const text = (...choices: readonly string[]) => fc.constantFrom(...choices).map((one) => Buffer.from(one));
const noise = fc.uint8Array({ maxLength: 64 });

const bounds = { maxHead: 20 * KiB, maxBody: 8 * MiB };
const ignored = () => undefined;

/** As a connection to the store reads it, in the pieces that a socket gives. */
function readResponse(sent: Buffer): void {
  // the parser moves what it reads, as it may in a buffer that a socket filled
  const bytes = Buffer.from(sent);
  const parser = new ResponseParser({ head: ignored, data: ignored }, bounds);
  for (let at = 0; at < bytes.length && !parser.done; at += 64 * KiB)
    parser.push(bytes.subarray(at, at + 64 * KiB));
}

const ok = 'HTTP/1.1 200 OK\r\n';
const headers = text(
  'a:\r\n',
  'Content-Length: 3\r\n',
  'transfer-encoding: chunked\r\n',
  'x-amz-meta-a: b\r\n',
  '\r\n',
);

const http1: UntrustedInput = {
  ...{ name: 'HTTP/1 answers', parser: 'runtime/net/http1.ts', from: 'store' },
  arbitrary: mixed(
    [headers, text('3\r\nabc\r\n', '0\r\n\r\n', ok, 'HTTP/1.1 100 a\r\n\r\n'), noise],
    Buffer.from(ok),
  ),
  worst: {
    'as many headers as fit': repeated(64 * KiB, 'a:\r\n', ok, '\r\n'),
    'one long header': repeated(64 * KiB, 'a', `${ok}a: `, '\r\n\r\n'),
    'interim answers': repeated(MiB, 'HTTP/1.1 102 a\r\n\r\n'),
    'chunks of one byte': repeated(
      64 * KiB,
      '1\r\nx\r\n',
      `${ok}transfer-encoding: chunked\r\n\r\n`,
      '0\r\n\r\n',
    ),
    'a head without end': repeated(MiB, 'a', ok),
  },
  parse: readResponse,
  refuses: isOf(HttpError),
};

const hpack: UntrustedInput = {
  ...{ name: 'HPACK blocks', parser: 'plugins/wrapper/agent/http2-headers.ts', from: 'peer' },
  arbitrary: mixed([
    fc.constantFrom(
      encodeHeaders([['grpc-status', '0']]),
      encodeHeaders([['a', '']]),
      Buffer.of(0x88),
      Buffer.of(0x20),
    ),
    noise,
  ]),
  worst: {
    'indexed fields': repeated(16 * KiB, Buffer.of(0x88)),
    'empty fields': repeated(16 * KiB, Buffer.of(0, 0, 0)),
    'updates of the table': repeated(16 * KiB, Buffer.of(0x20)),
    'one text of short codes': () => Buffer.concat([Buffer.of(0, 0xff, 0xf0, 0x7e), Buffer.alloc(16_239, 0)]),
  },
  parse: decodeHeaders,
  refuses: isOf(Http2Error),
};

const frames: UntrustedInput = {
  ...{ name: 'HTTP/2 frames', parser: 'plugins/wrapper/agent/http2-frames.ts', from: 'peer' },
  arbitrary: mixed([
    fc.tuple(fc.nat(10), fc.nat(255), fc.nat(3), noise).map((parts) => writeFrame(...parts)),
    noise,
  ]),
  worst: {
    'the longest frames': () =>
      Buffer.concat(Array.from({ length: 4 }, () => writeFrame(0, 0, 1, Buffer.alloc(longestFrame)))),
  },
  parse: (bytes) => [...new FrameReader().read(bytes)].length,
  refuses: isOf(Http2Error),
};

const field = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat()).map(([number, value]) => unsigned(number, value)),
  fc
    .tuple(fc.integer({ min: 1, max: 12 }), fc.string({ maxLength: 20 }))
    .map(([number, value]) => string(number, value)),
  fc.tuple(fc.integer({ min: 1, max: 12 }), noise).map(([number, value]) => embedded(number, value)),
  fc.integer({ min: 1, max: 12 }).map((number) => bool(number, true)),
);

const protobuf: UntrustedInput = {
  ...{ name: 'answers of the agent', parser: 'runtime/protocols/protobuf.ts', from: 'peer' },
  arbitrary: mixed([field, noise]),
  worst: {
    'fields of other numbers': () =>
      Buffer.from(message(...Array.from({ length: 8_000 }, (_, at) => unsigned(at + 16, 1)))),
    'one field again and again': repeated(32 * KiB, unsigned(1, 1)),
    'empty texts': repeated(32 * KiB, Buffer.of(0x22, 0)),
  },
  parse: readFields,
  refuses: isOf(ProtobufError),
  constant: 4 * MiB,
};

const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
const method = service['ReportNode'] as MethodDefinition<NodeReportMessage, unknown>;
const reportHead = message(string(1, 'node-1'), string(2, 'i'), unsigned(5, 1));
const inState = (...parts: readonly Uint8Array[]) =>
  message(reportHead, embedded(7, message(unsigned(1, 1), ...parts)));
const nothing = new Uint8Array(0);
const times = (count: number, part: Uint8Array) => Buffer.alloc(count * part.length, part);

const report: UntrustedInput = {
  ...{ name: 'reports of nodes', parser: 'plugins/operator/nodes/read-report.ts', from: 'peer' },
  arbitrary: mixed(
    [
      field,
      fc.array(field, { maxLength: 20 }).map((parts) => embedded(7, message(...parts))),
      fc.array(field, { maxLength: 20 }).map((parts) => embedded(10, message(...parts))),
    ],
    Buffer.from(reportHead),
  ),
  worst: {
    'empty hits': () => Buffer.from(message(reportHead, times(500_000, embedded(10, nothing)))),
    'empty pods': () => Buffer.from(inState(times(500_000, embedded(6, nothing)))),
    'as many pods as are taken': () =>
      Buffer.from(inState(...Array.from({ length: 1_000 }, (_, at) => embedded(6, string(1, `pod-${at}`))))),
    'as many hits as are taken': () =>
      Buffer.from(
        message(
          reportHead,
          ...Array.from({ length: 1_000 }, (_, at) =>
            embedded(10, message(unsigned(1, at + 1), unsigned(2, 1))),
          ),
        ),
      ),
    'long texts': () => Buffer.from(message(reportHead, string(4, 'x'.repeat(MiB - 1_000)))),
  },
  parse(bytes) {
    const { state, node } = readReport(bytes, method.requestDeserialize);
    return state && reportedState(node, state);
  },
  refuses: isOf(ReportRefused),
  constant: 8 * MiB,
};

const chunks: UntrustedInput = {
  ...{ name: 'aws-chunks', parser: 'objects/s3/chunk-decoder.ts', from: 'caller' },
  arbitrary: mixed([
    text('1\r\nx\r\n', '5\r\nhello\r\n', '0\r\n', 'x-amz-checksum-crc32:AAAAAA==\r\n', '\r\n'),
    noise,
  ]),
  worst: {
    'chunks of one byte': repeated(64 * KiB, '1\r\nx\r\n', '', '0\r\n\r\n'),
    'a header of 1 KiB for each byte': repeated(64 * KiB, `${'0'.repeat(7)}1\r\nx\r\n`),
    trailers: repeated(64 * KiB, 'x-amz-a:b\r\n', '0\r\n', '\r\n'),
  },
  parse(bytes) {
    const decoder = new ChunkDecoder({ signed: false, trailer: true });
    return decoder.push(bytes);
  },
  refuses: isOf(S3Error),
};

const challenges: UntrustedInput = {
  ...{ name: 'challenges of registries', parser: 'cluster/images/registry-access.ts', from: 'registry' },
  arbitrary: mixed([text('Bearer ', 'realm="https://a"', ',', ' ', 'Basic', 'a=b', '"', '\\'), noise]),
  worst: {
    'schemes of one letter': repeated(8 * KiB, 'a,'),
    'parameters of one letter': repeated(8 * KiB, 'a=b,', 'Bearer '),
    'an open text': repeated(8 * KiB, '\\"', 'Bearer a="'),
  },
  parse: (bytes) => parseChallenges(bytes.toString('latin1')),
  refuses: () => false,
  constant: 4 * MiB,
};

const region: UntrustedInput = {
  ...{
    name: 'regions of secrets',
    parser: 'runtime/protocols/secret-records/region-layout.ts',
    from: 'peer',
  },
  arbitrary: mixed([text('A=b\0', 'B=\0', '\0', '=x\0', 'long'.repeat(20)), noise]),
  worst: {
    'one long value': repeated(64 * KiB, 'x', 'A=', '\0\0'),
    'records without a name': repeated(64 * KiB, '=\0'),
    'no end': repeated(64 * KiB, 'x'),
  },
  parse: (bytes) => indexRecords(bytes, currentGeneration(bytes)),
  refuses: () => false,
  constant: MiB,
};

export const inputs: readonly UntrustedInput[] = [
  http1,
  hpack,
  frames,
  protobuf,
  report,
  chunks,
  challenges,
  region,
];
