import { readFileSync } from 'node:fs';
import { upstreamPath } from '../../src/objects/s3/request.ts';
import { RequestSigner } from '../../src/objects/s3/sigv4-sign.ts';
import { quantile } from '../harness/quantile.ts';
import { ClientConnection, type Response } from './client-connection.ts';
import type { Job, JobResult } from './job.ts';

/** A load process: is sent jobs, answers each with its result. Heads are signed and connections opened before the clock runs. */
process.on('message', (job: Job) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

// A benchmark that is ended leaves nothing behind.
process.on('disconnect', () => process.exit());

/** Bodies of up to so many bytes leave with their head. */
const small = 64 * 1024;
const pieceSize = 1024 * 1024;
const letter = 's';
const pauseMs = 20;
/** For one request that is refused again and again. */
const patienceMs = 30_000;

async function run(job: Job): Promise<JobResult> {
  const url = new URL(job.target.endpoint);
  const ca = job.target.caFile && readFileSync(job.target.caFile, 'utf8');
  const open = () => ClientConnection.open(url, ca);
  const requests = prepare(job, url.host);
  const piece = Buffer.alloc(Math.min(job.size, pieceSize), letter);
  const body = job.method === 'PUT' && job.size > small ? { piece, size: job.size } : undefined;
  const openFirst = () => (job.refusals ? open().catch(() => undefined) : open());
  const connections = await Promise.all(Array.from({ length: job.clients }, openFirst));
  const tally = { issued: 0, refused: 0, received: 0, latencies: [] as number[] };
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const until = begun + (job.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const most = job.requests ?? Number.POSITIVE_INFINITY;

  const client = async (first: ClientConnection | undefined): Promise<void> => {
    let connection = first;
    const exchange = async (head: Buffer): Promise<Response> => {
      if (!connection?.usable) connection = await open();
      return connection.exchange(head, body);
    };
    while (tally.issued < most && (performance.now() < until || tally.issued === 0)) {
      const head = requests[tally.issued++ % requests.length] as Buffer;
      const sent = performance.now();
      for (;;) {
        const response = await attempt(() => exchange(head), job, sent);
        if (response) {
          check(job, response);
          tally.received += response.bytes;
          break;
        }
        tally.refused += 1;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      tally.latencies.push(performance.now() - sent);
    }
    connection?.close();
  };

  await Promise.all(connections.map(client));
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const { latencies, refused, received } = tally;
  const sent = job.method === 'PUT' ? latencies.length * job.size : 0;
  return {
    seconds,
    requests: latencies.length,
    bytes: sent + received,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    refused,
    loadCpu: (user + system) / 1e6,
  };
}

/** Undefined where the server says that it cannot, or ends the connection, and has not done so for too long. */
async function attempt(
  exchange: () => Promise<Response>,
  { refusals = false }: Job,
  since: number,
): Promise<Response | undefined> {
  const again = refusals && performance.now() - since < patienceMs;
  try {
    const response = await exchange();
    return again && response.status >= 500 ? undefined : response;
  } catch (error) {
    if (!again) throw error;
    return undefined;
  }
}

/** One request for each object: a signature holds for a quarter of an hour. */
function prepare(job: Job, host: string): Buffer[] {
  const { target, size, method } = job;
  const signer = new RequestSigner(target.region);
  const range: Record<string, string> = job.range === undefined ? {} : { range: job.range };
  const body = method === 'PUT' && size <= small ? Buffer.alloc(size, letter) : Buffer.alloc(0);
  return Array.from({ length: job.objects }, (_, number) => {
    const { path, query } = addressOf(job, number);
    const unsigned = { method, path, query, headers: { host, ...range }, payload: 'UNSIGNED-PAYLOAD' };
    const { headers } = signer.sign(unsigned, target);
    if (method === 'PUT') headers['content-length'] = String(size);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `${method} ${query === '' ? path : `${path}?${query}`} HTTP/1.1\r\n`;
    return Buffer.concat([Buffer.from(`${start}${lines.join('')}\r\n`, 'latin1'), body]);
  });
}

function addressOf({ bucket, prefix, query = '', uploadId }: Job, number: number) {
  if (uploadId !== undefined) {
    const part = `partNumber=${number + 1}&uploadId=${encodeURIComponent(uploadId)}`;
    return { path: upstreamPath(bucket, prefix), query: part };
  }
  return { path: upstreamPath(bucket, prefix === '' ? '' : `${prefix}${number}`), query };
}

/** A wrong answer is no answer: what is measured is what was asked for. */
function check(job: Job, { status, bytes, first, text }: Response): void {
  if (status >= 300) throw new Error(`${job.method} answered ${status}: ${text}`);
  const isObject = job.method === 'GET' && job.query === undefined;
  if (!isObject || job.range !== undefined) return;
  if (bytes !== job.size) throw new Error(`GET gave ${bytes} bytes instead of ${job.size}`);
  if (first !== letter.charCodeAt(0)) throw new Error('GET gave other bytes than were written');
}
