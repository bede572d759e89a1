import { connect } from 'node:net';

export interface RawOutcome {
  /** Everything that came, as latin1. */
  readonly text: string;
  /** Of the first answer; 0 without one. */
  readonly status: number;
  readonly answers: number;
  /** The connection was open at the end of the patience, after FIN. */
  readonly hung: boolean;
}

/** A further answer, to what was hidden behind the request, comes right after the first. */
const afterAnswerMs = 12;
const heads = /HTTP\/1\.[01] ([2-9]\d\d)/g;

/**
 * Sends bytes as they are. Without an answer within `quietMs` the proxy is told by FIN that nothing more comes, and
 * has to come to an end by itself.
 */
export function rawSend(
  url: string,
  bytes: Buffer,
  { quietMs, patience }: { quietMs: number; patience: number },
): Promise<RawOutcome> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<RawOutcome>();
  const chunks: Buffer[] = [];
  let later: NodeJS.Timeout | undefined;
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const settle = (hung: boolean) => {
    for (const timer of [quiet, bound, later]) clearTimeout(timer);
    socket.destroy();
    const text = Buffer.concat(chunks).toString('latin1');
    const statuses = [...text.matchAll(heads)].map(([, status]) => Number(status));
    resolve({ text, status: statuses[0] ?? 0, answers: statuses.length, hung });
  };
  const quiet = setTimeout(() => socket.end(), quietMs);
  const bound = setTimeout(() => settle(true), patience);
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    clearTimeout(quiet);
    clearTimeout(later);
    if (isWhole(Buffer.concat(chunks).toString('latin1')))
      later = setTimeout(() => settle(false), afterAnswerMs);
    else later = setTimeout(() => socket.end(), quietMs);
  });
  for (const event of ['end', 'error', 'close']) socket.on(event, () => settle(false));
  socket.write(bytes);
  return promise;
}

/** Whether the last answer is there to its end. One to HEAD looks whole with its head. */
function isWhole(text: string): boolean {
  const last = text.slice(text.lastIndexOf('HTTP/1.'));
  const split = last.indexOf('\r\n\r\n');
  if (split < 0 || last.startsWith('HTTP/1.1 1')) return false;
  const length = /^content-length: (\d+)/im.exec(last.slice(0, split))?.[1];
  if (length === undefined)
    return /\r\n0\r\n\r\n$/.test(last) || !/^transfer-encoding/im.test(last.slice(0, split));
  return last.length >= split + 4 + Number(length) || last.length === split + 4;
}
