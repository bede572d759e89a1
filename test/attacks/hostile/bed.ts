import { startKeyServer } from '../../../src/plugins/dev/keys/key-server.ts';
import { noKeyFile } from '../../../src/plugins/dev/keys/transit-keys.ts';
import { setUpTransit } from '../../../src/plugins/dev/servers.ts';
import { quietLog } from '../../plugins/dev/quiet-log.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { Stoppable, SvcProxy } from '../../support/types.ts';
import { type HostileStore, startHostileStore } from './store/hostile-store.ts';

/** One proxy process and what it promises. */
export interface Mode {
  readonly name: string;
  readonly args: readonly string[];
  /** Callers have to sign. */
  readonly keys: boolean;
  readonly deny: boolean;
  readonly strict: boolean;
  /** Largest body of which no byte leaves before all of it was found authentic. */
  readonly verifyBuffer: number;
}

export const callerKeys = { accessKeyId: 'AKHOSTILECALLER', secretAccessKey: 'secret-of-the-hostile-caller' };

const KiB = 1024;

/** Between them: both ways to bind, both to read what is not encrypted, lists inline and in manifests, streamed, held and spooled. */
export const modes: readonly Mode[] = [
  { name: 'default', args: [], keys: false, deny: false, strict: false, verifyBuffer: 16 * KiB * KiB },
  {
    name: 'strict',
    args: ['--strict', '--verify-buffer', '64KiB', '--inline-limit', '0'],
    ...{ keys: true, deny: false, strict: true, verifyBuffer: 64 * KiB },
  },
  {
    name: 'deny',
    args: ['--require-bound', '--unencrypted-reads', 'deny', '--verify-buffer', '64KiB'],
    ...{ keys: true, deny: true, strict: false, verifyBuffer: 64 * KiB },
  },
  {
    name: 'bucket-key',
    args: ['--bind', 'bucket-key', '--strict', '--unencrypted-reads', 'deny', '--upstream-checksum', 'none'],
    ...{ keys: false, deny: true, strict: true, verifyBuffer: 16 * KiB * KiB },
  },
];

export interface RunningMode extends Mode {
  readonly proxy: SvcProxy;
}

export interface HostileBed extends Stoppable {
  readonly store: HostileStore;
  readonly modes: readonly RunningMode[];
}

/** The built proxy once in each mode, between a store that lies when it is told to and a key server that does not. */
export async function startHostileBed(wanted: readonly Mode[] = modes): Promise<HostileBed> {
  const [store, vault] = await Promise.all([startHostileStore(), startKeyServer(noKeyFile, quietLog())]);
  const token = await setUpTransit({
    url: vault.url,
    rootToken: vault.rootToken,
    mount: 'transit',
    keyName: 'svc',
  });
  const upstream = {
    endpoint: store.url,
    region: 'eu-central-1',
    accessKeyId: 'AKSTORE',
    secretAccessKey: 'secret-of-the-store',
  };
  const env = {
    SVC_PROXY_ACCESS_KEY_ID: callerKeys.accessKeyId,
    SVC_PROXY_SECRET_ACCESS_KEY: callerKeys.secretAccessKey,
  };
  const start = async (mode: Mode): Promise<RunningMode> => ({
    ...mode,
    proxy: await startSvcProxy({
      upstream,
      vault: { addr: vault.url, token },
      args: mode.args,
      ...(mode.keys && { env }),
    }),
  });
  const running = await Promise.all(wanted.map(start));
  return {
    store,
    modes: running,
    async stop() {
      await Promise.all(running.map(({ proxy }) => proxy.stop()));
      await Promise.all([store.stop(), vault.close()]);
    },
  };
}
