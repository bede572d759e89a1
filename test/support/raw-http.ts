import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

/** An answer as the wire had it, without a client library that hides how it ended. */
export interface RawAnswer {
  /** 0: the connection ended before the head of an answer was seen. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** False when the connection broke before the end of the body. */
  readonly complete: boolean;
  /** `<Code>` of an S3 error body. */
  readonly code: string | undefined;
}

export interface RawCall {
  readonly method?: string;
  /** A list stands for as many lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** Bound in ms, default 60 000: reached only when something is broken. */
  readonly timeoutMs?: number;
}

/** One request on a connection of its own; whatever comes of it is an answer. */
export function rawHttp(url: string, call: RawCall = {}): Promise<RawAnswer> {
  const { method = 'GET', headers = {}, timeoutMs = 60_000 } = call;
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const sent = request(
    url,
    { method, headers: { ...headers } as OutgoingHttpHeaders, agent: false },
    (incoming) => read(incoming, resolve),
  );
  const timer = setTimeout(() => {
    reject(new Error(`${method} ${url}: no end within ${timeoutMs} ms`));
    sent.destroy();
  }, timeoutMs);
  sent.on('error', () => resolve(broken));
  sent.end(call.body);
  return promise.finally(() => clearTimeout(timer));
}

const broken: RawAnswer = { status: 0, headers: {}, body: Buffer.alloc(0), complete: false, code: undefined };

function read(incoming: IncomingMessage, resolve: (answer: RawAnswer) => void): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  incoming.on('close', () => {
    const { statusCode: status = 0, headers, complete } = incoming;
    const body = Buffer.concat(chunks);
    resolve({ status, headers, body, complete, code: codeIn(body) });
  });
}

const codeIn = (body: Buffer) => /<Code>([^<]*)<\/Code>/.exec(body.subarray(0, 2000).toString())?.[1];

export interface RawExchange {
  /** Everything that came back, as latin1. */
  readonly text: string;
  /** Status of the first answer in it; 0 without one. */
  readonly status: number;
  readonly code: string | undefined;
  /** How many answers came. */
  readonly answers: number;
}

export interface RawBytesOptions {
  /** Send FIN after the bytes. Default: keep the connection open and wait for its end. */
  readonly finish?: boolean;
  /** Bound in ms, default 30 000. Reaching it is no error: what came until then is the result. */
  readonly timeoutMs?: number;
  /** Stop as soon as this many answers have come. */
  readonly answers?: number;
}

/** Sends bytes as they are over a connection of its own and collects what comes back until it ends. */
export function rawBytes(
  url: string,
  bytes: string | Uint8Array,
  { finish = false, timeoutMs = 30_000, answers = 1 }: RawBytesOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<RawExchange>();
  const chunks: Buffer[] = [];
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const settle = () => {
    clearTimeout(timer);
    socket.destroy();
    resolve(parsed(Buffer.concat(chunks).toString('latin1')));
  };
  const timer = setTimeout(settle, timeoutMs);
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    const soFar = parsed(Buffer.concat(chunks).toString('latin1'));
    if (soFar.answers >= answers && isWhole(soFar.text)) settle();
  });
  socket.on('end', settle).on('error', settle).on('close', settle);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  if (finish) socket.end();
  return promise;
}

const headPattern = /HTTP\/1\.1 (\d{3})[^\r\n]*\r\n/g;

function parsed(text: string): RawExchange {
  const heads = [...text.matchAll(headPattern)]
    .map((match) => Number(match[1]))
    .filter((status) => status >= 200);
  return {
    text,
    status: heads[0] ?? 0,
    code: /<Code>([^<]*)<\/Code>/.exec(text)?.[1],
    answers: heads.length,
  };
}

/** Whether the last answer in the text is there to its end. */
function isWhole(text: string): boolean {
  const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
  const split = last.indexOf('\r\n\r\n');
  if (split < 0) return false;
  const length = /^content-length: (\d+)/im.exec(last.slice(0, split))?.[1];
  if (length === undefined) return /\r\n0\r\n\r\n$/.test(last);
  return last.length >= split + 4 + Number(length);
}
