import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { clientsFor } from '../support/clients.ts';
import { startMinio } from '../support/minio.ts';
import { s3Client } from '../support/object-store.ts';
import { startOpenBao } from '../support/openbao.ts';
import { startRequestLog } from '../support/request-log.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import type {
  Clients,
  CommandResult,
  ObjectStore,
  OpenBao,
  RequestLog,
  Stoppable,
  SvcProxy,
  SvcVault,
} from '../support/types.ts';
import { startVersityGw } from '../support/versitygw.ts';

export const MiB = 1024 * 1024;
export const BUCKET = 'box';

export interface BedOptions {
  readonly store?: ObjectStore['kind'];
  /** Whether buckets of it may keep versions; MinIO always can. */
  readonly versioning?: boolean;
  /** Arguments and environment of the proxy. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How the proxy logs in; default: a token with the transit policy alone. */
  readonly vault?: (bao: OpenBao) => Promise<SvcVault>;
}

/** A key server, a store behind a relay that counts, the proxy in front of both, and clients of the proxy. */
export interface Bed extends Stoppable {
  readonly bao: OpenBao;
  readonly store: ObjectStore;
  /** What passes between the proxy and the store. */
  readonly log: RequestLog;
  readonly proxy: SvcProxy;
  readonly clients: Clients;
  /** The SDK for JavaScript, through the proxy. */
  readonly client: S3Client;
  /** Text that all plaintext holds and that no store may. */
  readonly marker: string;
  /** Bytes that differ each time and hold the marker every 4 KiB. */
  payload(bytes: number): Buffer;
  /** Writes such bytes into the clients' working directory. */
  file(name: string, bytes: number): string;
  /** SHA-256, in hex, of a file in the clients' working directory. */
  digest(name: string): string;
}

/** @throws ToolUnavailable where a server cannot be had */
export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const started: Stoppable[] = [];
  const keep = async <T extends Stoppable>(promise: Promise<T> | T): Promise<T> => {
    const one = await promise;
    started.unshift(one);
    return one;
  };
  const stop = async () => {
    for (const one of started.splice(0)) await one.stop();
  };
  try {
    const startStore = options.store === 'minio' ? startMinio : startVersityGw;
    const [bao, store] = await Promise.all([
      keep(startOpenBao()),
      keep(startStore({ versioning: options.versioning ?? false })),
    ]);
    await Promise.all([bao.enableTransit(), store.createBucket(BUCKET)]);
    const log = await keep(startRequestLog(store.endpoint));
    const vault = (await options.vault?.(bao)) ?? { addr: bao.url, token: await bao.policyToken() };
    const { args = [], env = {} } = options;
    const proxy = await keep(startSvcProxy({ vault, upstream: { ...store, endpoint: log.url }, args, env }));
    const clients = await keep(clientsFor(proxy.target));
    const client = await s3Client(proxy.target);
    return { bao, store, log, proxy, clients, client, ...plaintexts(clients.dir), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function plaintexts(dir: string): Pick<Bed, 'marker' | 'payload' | 'file' | 'digest'> {
  const marker = `plaintext-${randomBytes(12).toString('hex')}`;
  const payload = (bytes: number) => {
    const body = Buffer.allocUnsafe(bytes);
    randomFillSync(body);
    for (let at = 0; at < bytes; at += 4096) body.write(marker, at, 'latin1');
    return body;
  };
  return {
    marker,
    payload,
    file(name, bytes) {
      const path = join(dir, name);
      writeFileSync(path, payload(bytes));
      return path;
    },
    digest: (name) => sha256(readFileSync(join(dir, name))),
  };
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What a client printed, after it has ended well. */
export function ok({ status, stdout, stderr }: CommandResult): string {
  assert.is(status, 0, `exit status ${status}\n${stderr}\n${stdout}`);
  return stdout;
}

/** What a client complained of. */
export function failed({ status, stdout, stderr }: CommandResult): string {
  assert.is.not(status, 0, `ended well\n${stderr}\n${stdout}`);
  assert.is.not(status, null, 'did not end in time');
  return `${stderr}\n${stdout}`;
}
