import { clientPreface, frameFlag, frameType, writeFrame } from '../../../../../src/core/http2-frames.ts';
import { encodeHeaders } from '../../../../../src/core/http2-headers.ts';

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

/** A whole call of Register, with nothing in the request. */
export const registerCall = Buffer.concat([hello, head(registerPath, 1), body(1, [0, 0, 0, 0, 0])]);
