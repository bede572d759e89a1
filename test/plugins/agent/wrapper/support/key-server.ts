import { type KvStore, kvStore } from '../../../../support/kv.ts';
import { startOpenBao } from '../../../../support/openbao.ts';
import { startRequestLog } from '../../../../support/request-log.ts';
import type { LoggedRequest, Stoppable, SvcVault } from '../../../../support/types.ts';

/** OpenBao behind a log of what is asked of it. */
export interface KeyServer extends Stoppable {
  readonly requests: readonly LoggedRequest[];
  put: KvStore['put'];
  /** With a fresh token of the application's policy. */
  vault(): Promise<SvcVault>;
}

export async function startKeyServer(): Promise<KeyServer> {
  const bao = await startOpenBao();
  const kv = await kvStore(bao);
  const log = await startRequestLog(bao.url);
  return {
    requests: log.requests,
    put: kv.put,
    vault: async () => ({ addr: log.url, token: await kv.token() }),
    async stop() {
      await log.stop();
      await bao.stop();
    },
  };
}
