import { startComponent } from './component.ts';
import { dockerTarget } from './dockerfile.ts';
import { http } from './http.ts';
import type { LogLine } from './log-lines.ts';
import { residentMemory } from './process-memory.ts';
import type { S3Target, SvcProxy, SvcProxyConfig } from './types.ts';
import { vaultEnvironment } from './vault-environment.ts';

/** What the image sets, which is how the proxy ships. */
const imageEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  dockerTarget('proxy').env.flatMap((line) => line.split(' ').map((setting) => setting.split('=', 2))),
);

/**
 * Starts `svc run proxy` on free ports and waits for it.
 * @throws Error with what it printed when it ends, or is not ready in time
 */
export async function startSvcProxy(config: SvcProxyConfig): Promise<SvcProxy> {
  const { args = [], under = [], nodeArgs = [], waitReady = true, entry } = config;
  const proxy = await startComponent({
    ...{ name: 'proxy', args, under, nodeArgs, ...(entry === undefined ? {} : { entry }) },
    env: () => environment(config),
    ready: async ({ health }) => !waitReady || (await http(`http://${health}/readyz`)).status === 200,
  });
  return {
    get pid() {
      return proxy.pid;
    },
    get url() {
      return urlOf(proxy.started);
    },
    get health() {
      return `http://${proxy.started['health']}`;
    },
    get target() {
      return { ...callerCredentials(config), endpoint: urlOf(proxy.started) };
    },
    output: proxy.output,
    rss: () => residentMemory(proxy.pid),
    kill: proxy.kill,
    restart: proxy.restart,
    stop: proxy.stop,
  };
}

const urlOf = ({ address, tls }: LogLine): string => `${tls === undefined ? 'http' : 'https'}://${address}`;

function environment({ upstream, vault, env }: SvcProxyConfig): Record<string, string | undefined> {
  return {
    MALLOC_ARENA_MAX: imageEnvironment['MALLOC_ARENA_MAX'],
    SVC_PROXY_LISTEN: '127.0.0.1:0',
    SVC_PROXY_HEALTH: '127.0.0.1:0',
    SVC_PROXY_UPSTREAM: upstream.endpoint,
    AWS_REGION: upstream.region,
    AWS_ACCESS_KEY_ID: upstream.accessKeyId,
    AWS_SECRET_ACCESS_KEY: upstream.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    NODE_EXTRA_CA_CERTS: upstream.caFile,
    ...vaultEnvironment(vault),
    ...env,
  };
}

/** The keys that callers must sign with, where the proxy asks for any. */
function callerCredentials({ upstream, env = {} }: SvcProxyConfig): Omit<S3Target, 'endpoint'> {
  return {
    region: upstream.region,
    accessKeyId: env.SVC_PROXY_ACCESS_KEY_ID ?? 'anyone',
    secretAccessKey: env.SVC_PROXY_SECRET_ACCESS_KEY ?? 'anything',
  };
}
