import { Agent, type IncomingMessage, request } from 'node:http';
import { upstreamPath } from '../../src/core/s3/request.ts';
import { RequestSigner } from '../../src/core/s3/sigv4-sign.ts';
import type { Job, JobResult } from './job.ts';

/** A load process: reads its job from the command line, prints what it took. Bodies are unsigned and not kept. */
const job: Job = JSON.parse(process.argv[2] ?? '');
const { hostname, port, host } = new URL(job.endpoint);
const signer = new RequestSigner(job.region);
const agent = new Agent({ keepAlive: true, maxSockets: job.clients });
const chunk = Buffer.alloc(Math.min(job.size, 1024 * 1024), 'svc ');
let next = 0;
let received = 0;

function send(number: number): Promise<void> {
  const path = upstreamPath(job.bucket, job.prefix === '' ? '' : `${job.prefix}${number % job.objects}`);
  const range: Record<string, string> = job.range === undefined ? {} : { range: job.range };
  const unsigned = { method: job.method, path, query: job.query ?? '', headers: { host, ...range } };
  const { headers } = signer.sign({ ...unsigned, payload: 'UNSIGNED-PAYLOAD' }, job);
  const length = job.method === 'PUT' ? { 'content-length': job.size } : {};
  const target = job.query ? `${path}?${job.query}` : path;
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, agent, method: job.method, path: target, headers: { ...headers, ...length } },
      (response) => read(response).then(resolve, reject),
    );
    sent.on('error', reject);
    write(sent).catch(reject);
  });
}

async function write(sent: ReturnType<typeof request>): Promise<void> {
  let left = job.method === 'PUT' ? job.size : 0;
  while (left > 0) {
    const piece = left < chunk.length ? chunk.subarray(0, left) : chunk;
    left -= piece.length;
    if (!sent.write(piece)) await new Promise((resolve) => sent.once('drain', resolve));
  }
  sent.end();
}

async function read(response: IncomingMessage): Promise<void> {
  let text = '';
  response.on('data', (data: Buffer) => {
    received += data.length;
    if ((response.statusCode ?? 0) >= 300) text += data;
  });
  await new Promise((resolve, reject) => response.on('end', resolve).on('error', reject));
  if ((response.statusCode ?? 0) >= 300)
    throw new Error(`${job.method} answered ${response.statusCode}: ${text}`);
}

async function client(): Promise<void> {
  while (next < job.requests) await send(next++);
}

const begun = performance.now();
await Promise.all(Array.from({ length: job.clients }, client));
const result: JobResult = { seconds: (performance.now() - begun) / 1000, bytes: received };
process.stdout.write(JSON.stringify(result));
agent.destroy();
