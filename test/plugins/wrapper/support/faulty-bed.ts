import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { http } from '../../../support/http.ts';
import { type KvStore, kvStore } from '../../../support/kv.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { startWrapper, type WrapperOptions, type WrapperRun } from '../../../support/svc-wrapper.ts';
import type { FaultProxy, HttpResult, OpenBao, RequestLog } from '../../../support/types.ts';

/** A wrapper behind which stand a log of its requests, then faults, then OpenBao. */
export interface FaultyBed {
  readonly bao: OpenBao;
  readonly kv: KvStore;
  readonly faults: FaultProxy;
  readonly requests: RequestLog;
  /** Starts a wrapper whose application says `RUN <value of KEY>` and waits. */
  start(options?: Partial<WrapperOptions>): Promise<WrapperRun>;
  /** Ends the wrappers, forgets requests and faults. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const waiting = ['/bin/sh', '-c', 'echo "RUN $KEY"; exec sleep 600'];

/** `secret/app` has `KEY=one`. */
export async function startFaultyBed(): Promise<FaultyBed> {
  const bao = await startOpenBao();
  const kv = await kvStore(bao);
  await kv.put('app', { KEY: 'one' });
  const faults = await startFaultProxy(bao.url);
  const requests = await startRequestLog(faults.url);
  const runs: WrapperRun[] = [];
  const endRuns = () => Promise.all(runs.splice(0).map((run) => run.stop()));
  return {
    bao,
    kv,
    faults,
    requests,
    async start(options = {}) {
      const vault = options.vault ?? { addr: requests.url, token: await kv.token() };
      const run = await startWrapper({ paths: ['secret/app'], command: waiting, ...options, vault });
      runs.push(run);
      return run;
    },
    async clear() {
      await endRuns();
      await faults.heal();
      requests.clear();
    },
    async stop() {
      await endRuns();
      await requests.stop();
      await faults.stop();
      await bao.stop();
    },
  };
}

/** A page of the wrapper's health endpoint. */
export async function page(run: WrapperRun, path: string): Promise<HttpResult> {
  return http(`${await run.health()}${path}`);
}
