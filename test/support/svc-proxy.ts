import { fileURLToPath } from 'node:url';
import { type Child, launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { http } from './http.ts';
import { residentMemory } from './process-memory.ts';
import { temporaryFolder } from './temporary.ts';
import type { S3Target, SvcProxy, SvcProxyConfig } from './types.ts';
import { vaultEnvironment } from './vault-environment.ts';
import { waitFor } from './wait-for.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Listening {
  readonly address: string;
  readonly health: string;
}

/**
 * Starts `svc run proxy` on free ports and waits for it.
 * @throws Error with what it printed when it ends, or is not ready in time
 */
export async function startSvcProxy(config: SvcProxyConfig): Promise<SvcProxy> {
  const folder = temporaryFolder('proxy');
  const entry = config.entry ?? process.env.SVC_TEST_ENTRY ?? `${ROOT}bin/run.js`;
  const node = [process.execPath, ...(config.nodeArgs ?? []), entry];
  const [file = '', ...args] = [...(config.under ?? []), ...node, 'run', 'proxy', ...(config.args ?? [])];
  let everything = '';
  const start = async () => {
    const begin = everything.length;
    const child = await launch(file, args, {
      env: environment(config, folder.path),
      cwd: folder.path,
      onOutput: (text) => {
        everything += text;
      },
    });
    return { child, ...(await untilUp(child, () => everything.slice(begin), config.waitReady ?? true)) };
  };
  let current = await start();
  return {
    get pid() {
      return current.child.pid;
    },
    get url() {
      return `http://${current.address}`;
    },
    get health() {
      return `http://${current.health}`;
    },
    get target() {
      return { ...callerCredentials(config), endpoint: `http://${current.address}` };
    },
    output: () => everything,
    rss: () => residentMemory(current.child.pid),
    kill: (signal) => current.child.end(signal),
    async restart() {
      if (!current.child.ended) await current.child.end();
      current = await start();
    },
    async stop() {
      if (!current.child.ended) await current.child.end('SIGKILL');
      await folder.remove();
    },
  };
}

/** Waits for the start-up line and, if wished, for readiness; ends the process when either fails. */
async function untilUp(child: Child, output: () => string, ready: boolean): Promise<Listening> {
  const details = { details: output };
  try {
    const up = await waitFor(
      'the listening line of svc run proxy',
      () => listening(output()) ?? child.ended,
      details,
    );
    if (up === true) throw new Error(`svc run proxy ended while starting\n${output()}`);
    const isReady = async () => child.ended || (await http(`http://${up.health}/readyz`)).status === 200;
    if (ready) await waitFor('readiness of svc run proxy', isReady, details);
    return up;
  } catch (error) {
    if (!child.ended) await child.end('SIGKILL');
    throw error;
  }
}

/** Workers say where they listen too; the process that was started also says where its health is. */
const isStartUpLine = (text: string) => text.includes('"event":"listening"') && text.includes('"health":');

function listening(output: string): Listening | undefined {
  const line = output.split('\n').find(isStartUpLine);
  return line ? JSON.parse(line) : undefined;
}

function environment(config: SvcProxyConfig, home: string): NodeJS.ProcessEnv {
  const { upstream, vault, env } = config;
  return cleanEnv({
    HOME: home,
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
  });
}

/** The keys that callers must sign with, where the proxy asks for any. */
function callerCredentials({ upstream, env = {} }: SvcProxyConfig): Omit<S3Target, 'endpoint'> {
  return {
    region: upstream.region,
    accessKeyId: env.SVC_PROXY_ACCESS_KEY_ID ?? 'anyone',
    secretAccessKey: env.SVC_PROXY_SECRET_ACCESS_KEY ?? 'anything',
  };
}
