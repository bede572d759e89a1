import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Component, ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { exposeWorkers } from '../../runtime/health/create-metrics.ts';
import { createBackoff, untilAborted } from '../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { setCoreLimit, setDumpable, shareAllocator } from '../../runtime/native/own-process.ts';
import { formatListenAddress } from '../../runtime/settings/listen-address.ts';
import { checkProxy, type ProxyConfig, readConfig } from './config.ts';
import type { Conditions } from './readiness.ts';
import { type ProxySettings, proxySettings } from './settings.ts';
import { type ProcessOptions, startProcess } from './start-process.ts';

/** The S3 encryption proxy, in this process or in several that share its address. */
export const proxy: Component<ProxySettings> = {
  name: 'proxy',
  settings: proxySettings,
  check: checkProxy,
  start(settings, deps, signal) {
    protectMemory(deps.log);
    const config = readConfig(settings);
    if (cluster.isWorker) return startWorker({ config, settings, deps }, signal);
    if (config.workers > 1) return startClusterPrimary(config, deps, signal);
    return startProcess({ config, settings, deps, conditions: deps.health }, signal);
  },
};

/**
 * Disables core dumps, and reads by other processes of the same user, before any token or key is in memory.
 * @throws NativeError, SvcError NATIVE_UNSUPPORTED (exit 71) if Linux refuses
 */
function protectMemory(log: Logger): void {
  if (process.platform !== 'linux') {
    return log.warn('proxy.memory.unprotected', { platform: process.platform });
  }
  setCoreLimit(1);
  setDumpable(false);
  shareAllocator();
}

/**
 * Serves in a cluster worker. The primary stops it by a message, because a signal may also come from the terminal, and
 * a second signal cuts an orderly shutdown short.
 */
export function startWorker(
  options: Omit<ProcessOptions, 'conditions'>,
  signal: AbortSignal,
): Promise<Running> {
  const asked = new AbortController();
  process.on('message', (message) => {
    if (isPrimaryMessage(message)) asked.abort();
  });
  const tell = (message: WorkerMessage) => void process.send?.(message);
  const conditions: Conditions = {
    ready: (condition) => tell({ svc: 'condition', condition }),
    notReady: (condition, reason) => tell({ svc: 'condition', condition, reason }),
  };
  return startProcess({ ...options, conditions }, AbortSignal.any([signal, asked.signal]));
}

/** A worker that lived this long is not part of a crash loop. */
const settledMs = 60_000;

/** Condition of a worker until it reports its own conditions. */
const starting = 'workers';
const nobody: ReadonlyMap<string, string> = new Map([[starting, 'no worker runs']]);

/** Starts `config.workers` processes on one address, and replaces each that dies. */
export async function startClusterPrimary(
  config: ProxyConfig,
  deps: ComponentDeps,
  signal: AbortSignal,
): Promise<Running> {
  const primary = new ClusterPrimary(config.workers, deps);
  try {
    const address = await primary.start();
    const closed = untilAborted(signal).then(() => primary.stop());
    const facts = { address, upstream: config.upstream.origin, workers: String(config.workers) };
    return { facts, closed, expose: exposeWorkers };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

class ClusterPrimary {
  readonly #size: number;
  readonly #deps: ComponentDeps;
  readonly #backoff = createBackoff({ initialMs: 500, maxMs: 30_000 });
  /** For each live worker, the reasons that keep it from serving, by condition. */
  readonly #unmet = new Map<number, Map<string, string>>();
  #shown: readonly string[] = [];
  #stopping = false;

  constructor(size: number, deps: ComponentDeps) {
    this.#size = size;
    this.#deps = deps;
    const execArgv = [...new Set([...process.execArgv, '--disable-sigusr1'])];
    cluster.setupPrimary({ args: workerArguments(process.argv.slice(2)), execArgv });
  }

  /** @returns the workers' shared address. @throws SvcError if a worker exits before it listens */
  async start(): Promise<string> {
    const workers = Array.from({ length: this.#size }, () => this.#fork());
    const addresses = await Promise.all(workers.map(listening));
    for (const worker of workers) this.#replaceWhenGone(worker);
    return addresses[0] ?? '';
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.isDead()) return;
        const gone = once(worker, 'exit');
        askToStop(worker);
        await gone;
      }),
    );
  }

  #fork(): Worker {
    const worker = cluster.fork();
    const unmet = new Map([[starting, 'a worker is starting']]);
    this.#unmet.set(worker.id, unmet);
    worker.on('message', (message) => {
      if (!isWorkerMessage(message)) return;
      // a worker that was still starting missed the first request to stop
      if (this.#stopping) askToStop(worker);
      const { condition, reason } = message;
      unmet.delete(starting);
      if (reason === undefined) unmet.delete(condition);
      else unmet.set(condition, reason);
      this.#report();
    });
    this.#report();
    return worker;
  }

  #replaceWhenGone(worker: Worker): void {
    const began = performance.now();
    worker.once('exit', (status, signal) => {
      this.#unmet.delete(worker.id);
      if (this.#stopping) return;
      this.#report();
      this.#deps.log.error('proxy.worker.died', { pid: worker.process.pid, status, signal });
      if (performance.now() - began > settledMs) this.#backoff.reset();
      // not unrefed: once all workers have died, only this timer keeps the primary alive
      setTimeout(() => this.#stopping || this.#replaceWhenGone(this.#fork()), this.#backoff.next());
    });
  }

  /**
   * Ready while any worker is: requests go to all workers, and a worker that is not ready waits for its servers by
   * itself.
   */
  #report(): void {
    const { health } = this.#deps;
    const workers = [...this.#unmet.values()];
    const [first = nobody] = workers;
    const reasons = workers.some(({ size }) => size === 0) ? new Map<string, string>() : first;
    for (const [condition, reason] of reasons) health.notReady(condition, reason);
    for (const condition of this.#shown) if (!reasons.has(condition)) health.ready(condition);
    this.#shown = [...reasons.keys()];
  }
}

function askToStop(worker: Worker): void {
  const stop: PrimaryMessage = { svc: 'stop' };
  if (worker.isConnected()) worker.send(stop);
}

function listening(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ address, port }) =>
      resolve(formatListenAddress({ host: address ?? '::', port })),
    );
    worker.once('exit', (status) => reject(diedEarly(status)));
  });
}

const diedEarly = (status: number | null) =>
  new SvcError('PROXY_WORKER', 'A worker ended before it could serve; its own log line says why', {
    nextStep: 'See the log line before this one.',
    exitStatus: status === null || status === 0 ? exitStatus.internal : status,
  });

const flag = '--health';

/**
 * The worker's command line: the same, except that `--health` is empty because the primary has the health server. A
 * flag must not occur twice.
 */
export function workerArguments(given: readonly string[]): string[] {
  const kept = given.filter(
    (argument, index) => argument !== flag && !argument.startsWith(`${flag}=`) && given[index - 1] !== flag,
  );
  return [...kept, flag, ''];
}

/** Message from a worker to the primary: a condition that is met, or the reason why it is not. */
export interface WorkerMessage {
  readonly svc: 'condition';
  readonly condition: string;
  readonly reason?: string;
}
/** The only message from the primary to a worker. */
export type PrimaryMessage = { readonly svc: 'stop' };

/** Libraries use the same channel, so messages need a type check. */
export const isWorkerMessage = (message: unknown): message is WorkerMessage =>
  (message as Partial<WorkerMessage> | null)?.svc === 'condition';

export const isPrimaryMessage = (message: unknown): message is PrimaryMessage =>
  (message as Partial<PrimaryMessage> | null)?.svc === 'stop';
