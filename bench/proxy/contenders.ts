import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cleanEnv } from '../../test/support/clean-env.ts';
import { startOpenBao } from '../../test/support/openbao.ts';
import { freePort } from '../../test/support/ports.ts';
import { startSvcProxy } from '../../test/support/svc-proxy.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import type { ObjectStore } from '../../test/support/types.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { requireTool } from '../../test/testbed/ensure.ts';
import type { Contender } from './contender.ts';

export const bareStore = (store: ObjectStore): Contender => ({
  name: 'bare store',
  endpoint: store.endpoint,
  region: store.region,
  accessKeyId: store.accessKeyId,
  secretAccessKey: store.secretAccessKey,
  pid: store.pid,
  stop: async () => undefined,
});

/** The proxy with its real key server. */
export async function svcProxy(store: ObjectStore, args: readonly string[] = []): Promise<Contender> {
  const bao = await startOpenBao();
  await bao.enableTransit();
  const vault = { addr: bao.url, token: await bao.policyToken() };
  const proxy = await startSvcProxy({ upstream: store, vault, args });
  return {
    name: ['svc', ...args].join(' '),
    ...proxy.target,
    pid: proxy.pid,
    keyServer: bao.pid,
    async stop() {
      await proxy.stop();
      await bao.stop();
    },
  };
}

/** `rclone serve s3` over `crypt`: names in the clear, so that buckets and keys are the same. */
export async function rcloneCrypt(store: ObjectStore): Promise<Contender> {
  const { bins } = await requireTool('rclone');
  const [port, folder] = [await freePort(), temporaryFolder('rclone')];
  const endpoint = `http://127.0.0.1:${port}`;
  const keys = { accessKeyId: 'rclone-user', secretAccessKey: 'rclone-secret' };
  const args = ['serve', 's3', 'sealed:', '--addr', `127.0.0.1:${port}`];
  const child = spawn(bins.rclone as string, [...args, '--auth-key', Object.values(keys).join(',')], {
    stdio: 'ignore',
    env: cleanEnv({
      HOME: folder.path,
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
    }),
  });
  await waitFor('rclone serve s3', async () => (await fetch(endpoint).catch(() => undefined)) !== undefined);
  return {
    name: 'rclone serve s3 over crypt',
    endpoint,
    region: 'us-east-1',
    ...keys,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await folder.remove();
    },
  };
}
