import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { startMinio } from '../../support/minio.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startRequestLog } from '../../support/request-log.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type {
  LoggedRequest,
  ObjectStore,
  RequestLog,
  S3Target,
  Stoppable,
  SvcProxy,
} from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';

export type Way = 'bare' | 'proxy';

export interface Traffic {
  readonly bytes: number;
  readonly requests: number;
  /** The same by kind, such as `PUT`, `PUT helper` or `PUT ?partNumber`. */
  readonly kinds: Readonly<Record<string, { bytes: number; requests: number }>>;
}

/** A store behind a relay that counts, and proxies that reach it by the same relay. */
export interface ApplicationBed extends Stoppable {
  readonly store: ObjectStore;
  /** Where an application finds the bare store, or the proxy. */
  target(way: Way, tls: boolean): Promise<S3Target>;
  /** Body bytes in both directions, and requests, of one bucket at the store. */
  traffic(bucket: string): Traffic;
  /** What the proxies have written. */
  output(): string;
}

/** @throws ToolUnavailable */
export async function startApplicationBed(kind: ObjectStore['kind']): Promise<ApplicationBed> {
  const startStore = kind === 'minio' ? startMinio : startVersityGw;
  const [bao, store] = await Promise.all([startOpenBao(), startStore()]);
  await bao.enableTransit();
  const plain = await startRequestLog(store.url);
  const { accessKeyId, secretAccessKey, region } = store;
  const upstream: S3Target = { endpoint: plain.url, region, accessKeyId, secretAccessKey };
  const vault = { addr: bao.url, token: await bao.policyToken({ ttl: '5h' }) };
  const proxy = await startSvcProxy({ upstream, vault });
  let tls: TlsSide | undefined;
  const tlsSide = async () => {
    tls ??= await startTlsSide(store, (args) => startSvcProxy({ upstream, vault, args }));
    return tls;
  };
  return {
    store,
    async target(way, wantsTls) {
      if (!wantsTls) return way === 'proxy' ? proxy.target : upstream;
      const { log, proxy: behindTls, caFile } = await tlsSide();
      return way === 'proxy' ? { ...behindTls.target, caFile } : { ...upstream, endpoint: log.url, caFile };
    },
    traffic(bucket) {
      const own = new RegExp(`^/${bucket}(?:[/?]|$)`);
      const logs = [plain, ...(tls ? [tls.log] : [])];
      return sum(logs.flatMap(({ requests }) => requests.filter(({ path }) => own.test(path))));
    },
    output: () => proxy.output() + (tls?.proxy.output() ?? ''),
    async stop() {
      await Promise.all([proxy.stop(), tls?.proxy.stop()]);
      await Promise.all([plain.stop(), tls?.log.stop()]);
      await Promise.all([bao.stop(), store.stop(), tls?.remove()]);
    },
  };
}

function sum(requests: readonly LoggedRequest[]): Traffic {
  const kinds: Record<string, { bytes: number; requests: number }> = {};
  for (const { method, path, requestBytes, responseBytes } of requests) {
    const query = /\?([\w-]+)/.exec(path)?.[1];
    const helper = /\.svc(?:%2F|\/)/i.test(path) ? ' helper' : '';
    const kind = `${method}${helper}${query === undefined || query === 'x-id' ? '' : ` ?${query}`}`;
    kinds[kind] ??= { bytes: 0, requests: 0 };
    kinds[kind].bytes += requestBytes + responseBytes;
    kinds[kind].requests += 1;
  }
  const all = Object.values(kinds);
  const total = (what: 'bytes' | 'requests') => all.reduce((total, each) => total + each[what], 0);
  return { bytes: total('bytes'), requests: total('requests'), kinds };
}

interface TlsSide {
  readonly log: RequestLog;
  readonly proxy: SvcProxy;
  readonly caFile: string;
  remove(): Promise<void>;
}

/** The relay itself ends TLS, so that a bare store needs none and the same bytes are counted. */
async function startTlsSide(
  store: ObjectStore,
  startProxy: (args: readonly string[]) => Promise<SvcProxy>,
): Promise<TlsSide> {
  const folder = temporaryFolder('applications-tls');
  const authority = createCertificateAuthority();
  const identity = authority.issue({ commonName: 'store' });
  const write = (name: string, text: string) => {
    const path = join(folder.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const [cert, key] = [write('tls.crt', identity.cert), write('tls.key', identity.key)];
  const [log, proxy] = await Promise.all([
    startRequestLog(store.url, identity),
    startProxy(['--tls-cert', cert, '--tls-key', key]),
  ]);
  return { log, proxy, caFile: write('ca.pem', authority.cert), remove: folder.remove };
}
