import { createHash } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { RequestSigner } from '../../../src/objects/s3/sigv4-sign.ts';
import { callerKeys, type RunningMode } from './bed.ts';

/** Above what a busy machine takes, and below the minute after which the proxy gives a silent store up. In ms. */
export const patience = 45_000;

export interface Call {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  /** Encoded, without `?`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Leave after this many bytes of the body. */
  readonly leaveAfter?: number;
  /** The caller's patience in ms. Default `patience`, which only a hang reaches. */
  readonly patience?: number;
}

/** What came of a call, however it ended. */
export interface CallOutcome {
  /** 0: no head of an answer came. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** False when the connection broke before the end of the body. */
  readonly complete: boolean;
  /** The caller's patience was at its end. */
  readonly hung: boolean;
}

const agents = new WeakMap<RunningMode, Agent>();
const signer = new RequestSigner('eu-central-1');

function agentOf(mode: RunningMode): Agent {
  const agent = agents.get(mode) ?? new Agent({ keepAlive: true, maxSockets: 64 });
  agents.set(mode, agent);
  return agent;
}

/** Connections that are kept do not keep the process. */
export const closeCalls = (modes: readonly RunningMode[]): void => {
  for (const mode of modes) agents.get(mode)?.destroy();
};

export const encodedPath = (bucket: string, key: string): string =>
  `/${bucket}${key === '' ? '' : `/${key.split('/').map(encodeURIComponent).join('/')}`}`;

/** Headers with which the call goes out: signed where the proxy wants that. */
export function headersOf(mode: RunningMode, call: Call): Record<string, string> {
  const { method, bucket, key, query = '', headers = {}, body } = call;
  const { host } = new URL(mode.proxy.url);
  const length =
    body === undefined && method !== 'PUT' && method !== 'POST'
      ? {}
      : { 'content-length': String(body?.length ?? 0) };
  if (!mode.keys) return { host, ...length, ...headers };
  const { 'x-amz-content-sha256': given, ...rest } = headers;
  const payload =
    given ??
    createHash('sha256')
      .update(body ?? '')
      .digest('hex');
  const signed = signer.sign(
    { method, path: encodedPath(bucket, key), query, headers: { ...rest, host }, payload },
    callerKeys,
  );
  return { ...signed.headers, ...length };
}

/** One request through the proxy; whatever comes of it is an outcome. */
export function call(mode: RunningMode, wish: Call): Promise<CallOutcome> {
  const { method, bucket, key, query = '', body, leaveAfter, patience: bound = patience } = wish;
  const { hostname, port } = new URL(mode.proxy.url);
  const path = encodedPath(bucket, key) + (query === '' ? '' : `?${query}`);
  const { promise, resolve } = Promise.withResolvers<CallOutcome>();
  const chunks: Buffer[] = [];
  let head: { status: number; headers: IncomingHttpHeaders } = { status: 0, headers: {} };
  let hung = false;
  const settle = (complete: boolean) => {
    clearTimeout(timer);
    resolve({ ...head, body: Buffer.concat(chunks), complete, hung });
  };
  const sent = request(
    {
      hostname,
      port,
      method,
      path,
      headers: headersOf(mode, wish),
      agent: leaveAfter === undefined ? agentOf(mode) : false,
    },
    (incoming) => {
      head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
      incoming.on('close', () => settle(incoming.complete));
    },
  );
  const timer = setTimeout(() => {
    hung = true;
    sent.destroy();
    settle(false);
  }, bound);
  sent.on('error', () => settle(false));
  if (leaveAfter === undefined) sent.end(body);
  else {
    sent.write(body?.subarray(0, leaveAfter) ?? '');
    setTimeout(() => sent.destroy(), 15);
  }
  return promise;
}
