import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { createMemoryCgroup } from '../../../support/limit-cgroup.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../support/rig.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import type { SvcProxyConfig } from '../../../support/types.ts';
import type { Target, WorstInput } from '../input.ts';
import { bytesOf, type CallerInput, callerInputs, crowdInputs } from '../inputs/callers.ts';
import { keyServerInputs } from '../inputs/key-server.ts';
import { MiB, once } from '../inputs/pieces.ts';
import { type Lie, type StoreInput, storeInputs } from '../inputs/store.ts';
import { uploadInputs } from '../inputs/uploads.ts';
import { type LyingServer, startLyingServer } from '../lying-server.ts';
import { sendBytes } from '../send.ts';

const limit = 128 * MiB;

/** The kinds of proxies that are started one after the other; each has servers of its own. */
export const proxyTargets: readonly { readonly name: string; start(): Promise<Target> }[] = [
  { name: 'proxy over http', start: () => startProxy('proxy over http', {}) },
  { name: 'proxy over TLS', start: () => startProxy('proxy over TLS', { tls: true }) },
  {
    name: 'proxy over TLS, for callers with keys',
    start: () => startProxy('proxy over TLS, for callers with keys', { tls: true, keys: true }),
  },
  { name: 'proxy with a key server that lies', start: startProxyOfLyingKeyServer },
];

const keys = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
};

interface Options {
  readonly tls?: boolean;
  /** Callers must sign; those of the harness do not. */
  readonly keys?: boolean;
}

/** A proxy between OpenBao and a store that lies about some buckets. */
async function startProxy(name: string, options: Options): Promise<Target> {
  const folder = temporaryFolder('worst');
  const rig = await startRig();
  const store = await startLyingServer(rig.store.url);
  const caFile = options.tls ? join(folder.path, 'ca.crt') : undefined;
  const env = { ...(options.tls && tlsFiles(folder.path)), ...(options.keys && keys) };
  const { region, accessKeyId, secretAccessKey } = rig.store;
  const upstream = { endpoint: store.url, region, accessKeyId, secretAccessKey };
  const inputs = (proxy: RiggedProxy): WorstInput[] => {
    const callers = [...callerInputs, ...crowdInputs].map((one) => callerInput(proxy, one));
    if (options.keys) return callers.map((one) => ({ ...one, outcomes: [400, 403, 'ended', 431] }));
    const stored = storeInputs.map((one, index) => storeInput(proxy, one, `lie-${index}`));
    return [...callers, ...stored, ...uploadInputs(rig.bucket, () => ({ ...proxy.target, caFile }), lies)];
  };
  const lies = new Map<string, Judge>();
  store.judge = (request) => {
    const path = decodeURIComponent(request.url ?? '');
    const [, bucket = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(path) ?? [];
    const at = Number(/^lie-(\d+)$/.exec(bucket)?.[1] ?? Number.NaN);
    if (storeInputs[at] !== undefined)
      return storeInputs[at].lie({ method: request.method ?? '', path: rest }) ?? {};
    for (const judge of lies.values()) {
      const lie = judge(path);
      if (lie !== undefined) return lie;
    }
    return undefined;
  };
  return targetOf(name, { rig, config: { upstream, env }, inputs, servers: [store], folder });
}

type Judge = (path: string) => Lie | undefined;

function tlsFiles(folder: string): Readonly<Record<string, string>> {
  const authority = createCertificateAuthority();
  const { cert, key } = authority.issue({ commonName: 'worst' });
  writeFileSync(join(folder, 'ca.crt'), authority.cert);
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { SVC_PROXY_TLS_CERT: certFile, SVC_PROXY_TLS_KEY: keyFile };
}

async function startProxyOfLyingKeyServer(): Promise<Target> {
  const folder = temporaryFolder('worst');
  const rig = await startRig();
  const server = await startLyingServer(rig.bao.url);
  let current: (typeof keyServerInputs)[number] | undefined;
  server.judge = (request) => (request.url?.includes('/transit/') ? current?.lie() : undefined);
  const config = { vault: { addr: server.url, token: rig.token } };
  const inputs = (proxy: RiggedProxy): WorstInput[] =>
    keyServerInputs.map((one, at) => ({
      name: one.name,
      outcomes: [403, 500, 502, 503],
      async send() {
        current = one;
        const body = () => Buffer.from('x');
        return sendBytes(proxy.url, bytesOf({ ...one, line: `PUT /bucket/k-${at}`, body, outcomes: [] }));
      },
    }));
  return targetOf('proxy with a key server that lies', { rig, config, inputs, servers: [server], folder });
}

interface Parts {
  readonly rig: Rig;
  readonly config: Partial<SvcProxyConfig>;
  readonly inputs: (proxy: RiggedProxy) => WorstInput[];
  readonly servers: readonly LyingServer[];
  readonly folder: { remove(): Promise<void> };
}

async function targetOf(name: string, { rig, config, inputs, servers, folder }: Parts): Promise<Target> {
  const cgroup = createMemoryCgroup(limit);
  const proxy = await rig.proxy({ ...config, under: cgroup.under, waitReady: false });
  return {
    ...{ name, limit, inputs: inputs(proxy), killed: cgroup.killed },
    get pid() {
      return proxy.pid;
    },
    get healthz() {
      return `${proxy.health}/healthz`;
    },
    restart: () => proxy.restart(),
    async stop() {
      await rig.stop();
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([cgroup.remove(), folder.remove()]);
    },
  };
}

function callerInput(proxy: RiggedProxy, input: CallerInput): WorstInput {
  const bytes = once(() => bytesOf(input));
  const { crowd } = input;
  if (crowd === undefined) return { ...input, send: () => sendBytes(proxy.url, bytes(), input) };
  let sent = 0;
  return {
    ...input,
    async send() {
      const at = sent++ % (input.atOnce ?? 1);
      const connectMs = at < crowd.count ? at * crowd.everyMs : crowd.sendAtMs + 500;
      await sleep(connectMs);
      const silentMs = Math.max(0, crowd.sendAtMs - connectMs);
      return sendBytes(proxy.url, bytes(), { ...input, silentMs });
    },
  };
}

/** The caller's request is an ordinary one. */
function storeInput(proxy: RiggedProxy, { name, ask, outcomes }: StoreInput, bucket: string): WorstInput {
  const line = `${ask.method} /${bucket}${ask.path}`;
  const bytes = bytesOf({
    name,
    line,
    outcomes,
    headers: ask.headers ?? [],
    body: () => Buffer.from(ask.body ?? ''),
  });
  return { name, outcomes, send: () => sendBytes(proxy.url, bytes) };
}
