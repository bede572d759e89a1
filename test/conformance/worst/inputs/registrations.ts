import {
  clientPreface,
  frameFlag,
  frameType,
  longestFrame,
  writeFrame,
} from '../../../../src/plugins/wrapper/agent/http2-frames.ts';
import { encodeHeaders } from '../../../../src/plugins/wrapper/agent/http2-headers.ts';
import { body, head, hello, registerPath } from '../../../plugins/agent/registration/support/raw-call.ts';
import { numbered } from './pieces.ts';

/** What a process on the node sends to the agent's socket. */
export interface RegistrationInput {
  readonly name: string;
  readonly bytes: () => Buffer;
}

const grpcMessage = (length: number, byte: number): number[] => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return [0, ...size, ...Buffer.alloc(length, byte)];
};

/** One DATA frame after the other, the last of which ends the stream. */
function data(stream: number, bytes: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += longestFrame) {
    const flags = at + longestFrame >= bytes.length ? frameFlag.endStream : 0;
    frames.push(writeFrame(frameType.data, flags, stream, bytes.subarray(at, at + longestFrame)));
  }
  return Buffer.concat(frames);
}

const call = (message: Buffer) =>
  Buffer.concat([hello, head(registerPath, 1), data(1, Buffer.concat([lengthOf(message), message]))]);

function lengthOf(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return prefix;
}

const repeated = (count: number, frame: Buffer) => () =>
  Buffer.concat([hello, Buffer.alloc(count * frame.length, frame)]);

export const registrationInputs: readonly RegistrationInput[] = [
  {
    name: 'registration: a message of empty fields',
    bytes: () => call(Buffer.alloc(65_000, Buffer.from([0x12, 0]))),
  },
  {
    name: 'registration: a message of fields that there are not',
    bytes: () => call(Buffer.alloc(65_000, Buffer.from([0x78, 1]))),
  },
  {
    name: 'registration: a message of 64 KiB of text',
    bytes: () => Buffer.concat([hello, head(registerPath, 1), body(1, grpcMessage(16_000, 0x61))]),
  },
  {
    name: 'registration: settings again and again',
    bytes: repeated(200_000, writeFrame(frameType.settings, 0, 0, Buffer.alloc(0))),
  },
  {
    name: 'registration: pings again and again',
    bytes: repeated(100_000, writeFrame(frameType.ping, 0, 0, Buffer.alloc(8))),
  },
  {
    name: 'registration: streams that are given up at once',
    bytes: () =>
      Buffer.concat([
        hello,
        ...Array.from({ length: 20_000 }, (_, at) =>
          Buffer.concat([
            head(registerPath, 2 * at + 1),
            writeFrame(frameType.reset, 0, 2 * at + 1, Buffer.from([0, 0, 0, 8])),
          ]),
        ),
      ]),
  },
  {
    name: 'registration: headers that never end',
    bytes: () =>
      Buffer.concat([
        hello,
        writeFrame(frameType.headers, 0, 1, encodeHeaders([[':method', 'POST']])),
        Buffer.alloc(500_000 * 9, writeFrame(frameType.continuation, 0, 1, Buffer.alloc(0))),
      ]),
  },
  {
    name: 'registration: as many headers as fit',
    bytes: () =>
      Buffer.concat([
        hello,
        ...Array.from({ length: 200 }, (_, stream) =>
          writeFrame(
            frameType.headers,
            frameFlag.endHeaders,
            2 * stream + 1,
            encodeHeaders(Array.from({ length: 2_000 }, (_, at) => [numbered(at), ''] as const)).subarray(
              0,
              longestFrame,
            ),
          ),
        ),
      ]),
  },
  {
    name: 'registration: a greeting and zeros',
    bytes: () => Buffer.concat([clientPreface, Buffer.alloc(4_000_000)]),
  },
];
