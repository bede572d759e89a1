import {
  clientPreface,
  frameFlag,
  frameType,
  writeFrame,
} from '../../../../../src/plugins/wrapper/agent/http2-frames.ts';
import { encodeHeaders } from '../../../../../src/plugins/wrapper/agent/http2-headers.ts';

export const registerPath = '/svc.agent.v1.NodeAgent/Register';

/** What a client begins with. */
export const hello = Buffer.concat([clientPreface, writeFrame(frameType.settings, 0, 0, Buffer.alloc(0))]);

export function head(path: string, stream: number, type = 'application/grpc'): Buffer {
  const headers = encodeHeaders([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'x'],
    ['te', 'trailers'],
    ['content-type', type],
  ]);
  return Buffer.from(writeFrame(frameType.headers, frameFlag.endHeaders, stream, headers));
}

/** The last of a call. */
export function body(stream: number, bytes: readonly number[]): Buffer {
  return Buffer.from(writeFrame(frameType.data, frameFlag.endStream, stream, Buffer.from(bytes)));
}

/**
 * A message in as many frames as it takes, with its length before it.
 * @param missing bytes that are announced and do not come
 */
export function message(stream: number, content: Buffer, missing = 0): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(5), content]);
  bytes.writeUInt32BE(content.length + missing, 1);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += longestFrame) {
    const isEnd = at + longestFrame >= bytes.length && missing === 0;
    const part = bytes.subarray(at, at + longestFrame);
    frames.push(Buffer.from(writeFrame(frameType.data, isEnd ? frameFlag.endStream : 0, stream, part)));
  }
  return Buffer.concat(frames);
}

const longestFrame = 16_384;

/** A whole call of Register, with nothing in the request. */
export const registerCall = Buffer.concat([hello, head(registerPath, 1), body(1, [0, 0, 0, 0, 0])]);
