import { launch } from '../../test/support/child.ts';
import { cleanEnv } from '../../test/support/clean-env.ts';
import { startOpenBao } from '../../test/support/openbao.ts';
import { freePort } from '../../test/support/ports.ts';
import { startSvcProxy } from '../../test/support/svc-proxy.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import type { ObjectStore, OpenBao, S3Target, Stoppable, SvcProxyConfig } from '../../test/support/types.ts';
import { startVersityGw } from '../../test/support/versitygw.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { requireTool } from '../../test/testbed/ensure.ts';
import type { Contender } from './contender.ts';

export const bucket = 'bench';

/** Two stores and a key server; the contenders in front of them, of which one works at a time. */
export interface Bed extends Stoppable {
  readonly bao: OpenBao;
  readonly http: ObjectStore;
  readonly https: ObjectStore;
  /** @param under Commands that become a proxy, as a cgroup's. */
  start(name: ContenderName, under?: readonly string[]): Promise<Contender>;
}

/** What `svc run proxy` is started with; the store is the one that the name tells. */
const proxyArguments = {
  svc: [],
  'svc, `--format 2`': ['--format', '2'],
  'svc, `--join-key-calls=false`': ['--join-key-calls=false'],
  'svc, `--upstream-signing unsigned`': ['--upstream-signing', 'unsigned'],
  'svc, `--workers 2`': ['--workers', '2'],
  'svc, https upstream': [],
  'svc, https upstream, `--join-key-calls=false`': ['--join-key-calls=false'],
} as const satisfies Record<string, readonly string[]>;

type ProxyName = keyof typeof proxyArguments;
export type ContenderName =
  | ProxyName
  | `bare store${'' | ', https'}`
  | `rclone ${'serve s3 over crypt' | 'serve s3 over crypt, https upstream'}`;

/** @throws ToolUnavailable */
export async function startBed(): Promise<Bed> {
  const [bao, http, https] = await Promise.all([
    startOpenBao(),
    startVersityGw({ keepAlive: true }),
    startVersityGw({ keepAlive: true, tls: true }),
  ]);
  await Promise.all([bao.enableTransit(), http.createBucket(bucket), https.createBucket(bucket)]);
  const token = await bao.policyToken();
  const running: Contender[] = [];
  const started = (name: ContenderName, under: readonly string[]): Promise<Contender> => {
    const store = name.includes('https') ? https : http;
    if (name.startsWith('bare store')) return bareStore(name, store);
    if (name.startsWith('rclone')) return rcloneCrypt(name, store);
    const args = proxyArguments[name as ProxyName];
    const config = { upstream: store, vault: { addr: bao.url, token }, args, under };
    return svcProxy(name, config, { store: store.pid, keyServer: bao.pid });
  };
  return {
    ...{ bao, http, https },
    async start(name, under = []) {
      const contender = await started(name, under);
      running.push(contender);
      return contender;
    },
    async stop() {
      await Promise.all(running.map((contender) => contender.stop()));
      await Promise.all([bao.stop(), http.stop(), https.stop()]);
    },
  };
}

async function bareStore(name: string, store: ObjectStore): Promise<Contender> {
  const { endpoint, region, accessKeyId, secretAccessKey, caFile, pid } = store;
  const target = { endpoint, region, accessKeyId, secretAccessKey, caFile };
  return { name, target, pid, tls: caFile !== undefined, stop: async () => undefined };
}

/** The proxy with its real key server. */
async function svcProxy(
  name: string,
  config: SvcProxyConfig,
  behind: Pick<Contender, 'store' | 'keyServer'>,
): Promise<Contender> {
  const { pid, target, stop } = await startSvcProxy(config);
  return { name, target, pid, ...behind, tls: config.upstream.caFile !== undefined, stop };
}

/** `rclone serve s3` over `crypt`: names in the clear, so that buckets and keys are the same. */
async function rcloneCrypt(name: string, store: ObjectStore): Promise<Contender> {
  const { bins } = await requireTool('rclone');
  const [port, folder] = [await freePort(), temporaryFolder('rclone')];
  const endpoint = `http://127.0.0.1:${port}`;
  const keys = { accessKeyId: 'rclone-user', secretAccessKey: 'rclone-secret' };
  const args = ['serve', 's3', 'sealed:', '--addr', `127.0.0.1:${port}`];
  const child = await launch(bins.rclone as string, [...args, '--auth-key', Object.values(keys).join(',')], {
    env: rcloneEnvironment(store, folder.path),
  });
  await waitFor('rclone serve s3', async () => (await fetch(endpoint).catch(() => undefined)) !== undefined);
  return {
    name,
    target: { endpoint, region: 'us-east-1', ...keys },
    pid: child.pid,
    store: store.pid,
    tls: store.caFile !== undefined,
    async stop() {
      await child.end('SIGKILL');
      await folder.remove();
    },
  };
}

function rcloneEnvironment(store: S3Target, home: string): NodeJS.ProcessEnv {
  return cleanEnv({
    HOME: home,
    RCLONE_CA_CERT: store.caFile,
    RCLONE_CONFIG_STORE_TYPE: 's3',
    RCLONE_CONFIG_STORE_PROVIDER: 'Other',
    RCLONE_CONFIG_STORE_ENDPOINT: store.endpoint,
    RCLONE_CONFIG_STORE_REGION: store.region,
    RCLONE_CONFIG_STORE_ACCESS_KEY_ID: store.accessKeyId,
    RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY: store.secretAccessKey,
    RCLONE_CONFIG_SEALED_TYPE: 'crypt',
    RCLONE_CONFIG_SEALED_REMOTE: 'store:',
    RCLONE_CONFIG_SEALED_PASSWORD: 'lOUZUQqy3BlFE6U0oD2sR7tAUeDdz28EYBTuZo4o',
    RCLONE_CONFIG_SEALED_FILENAME_ENCRYPTION: 'off',
    RCLONE_CONFIG_SEALED_DIRECTORY_NAME_ENCRYPTION: 'false',
  });
}
