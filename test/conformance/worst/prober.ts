import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ProbeRequest {
  /** Of `/healthz`. */
  readonly url: string;
  readonly pid: number;
}

/** What a component's `/healthz` did while it was probed every 50 ms. */
export interface Probes {
  readonly count: number;
  /** Probes without status 200. */
  readonly failed: number;
  /** Latency of the slowest, in ms. */
  readonly worstMs: number;
  /** The same without the time that the machine kept the component's first thread waiting for a processor. */
  readonly worstOwnMs: number;
}

export interface Prober {
  begin(request: ProbeRequest): void;
  end(): Promise<Probes>;
  close(): Promise<void>;
}

export function createProber(): Prober {
  const worker = new Worker(new URL('./probe-loop.ts', import.meta.url));
  return {
    begin: (request) => worker.postMessage(request),
    async end() {
      const told = once(worker, 'message');
      worker.postMessage('end');
      const [probes] = (await told) as [Probes];
      return probes;
    },
    async close() {
      await worker.terminate();
    },
  };
}
