import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { ProbeRequest, Probes } from './prober.ts';

const everyMs = 50;
const timeoutMs = 60_000;

/** Probes in a thread of its own, which what the harness does meanwhile does not delay. */
let running: { readonly stop: AbortController; readonly ended: Promise<Probes> } | undefined;

parentPort?.on('message', async (request: ProbeRequest | 'end') => {
  if (request !== 'end') {
    const stop = new AbortController();
    running = { stop, ended: probe(request, stop.signal) };
    return;
  }
  running?.stop.abort();
  parentPort?.postMessage(await running?.ended);
});

/** One probe after the other: a pause of the event loop is the time that the probe then waits. */
async function probe({ url, pid }: ProbeRequest, signal: AbortSignal): Promise<Probes> {
  const probes = { count: 0, failed: 0, worstMs: 0, worstOwnMs: 0 };
  while (!signal.aborted) {
    const [begun, waited] = [performance.now(), waitedMs(pid)];
    const status = await statusOf(url);
    const latency = performance.now() - begun;
    const own = Math.max(0, latency - (waitedMs(pid) - waited));
    probes.count += 1;
    if (status !== 200) probes.failed += 1;
    probes.worstMs = Math.max(probes.worstMs, latency);
    probes.worstOwnMs = Math.max(probes.worstOwnMs, own);
    await sleep(Math.max(1, everyMs - latency));
  }
  return probes;
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve(0)).on('timeout', () => request.destroy(new Error('late')));
  });
}

/** How long the process's first thread, which runs the event loop, was ready to run while others ran. */
function waitedMs(pid: number): number {
  try {
    const [, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1')
      .split(' ')
      .map(Number);
    return waited / 1e6;
  } catch {
    return 0;
  }
}
