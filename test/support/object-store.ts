import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { createCertificateAuthority } from './certificates.ts';
import { http } from './http.ts';
import { type Server, type ServerPlan, startServer } from './server.ts';
import { temporaryFolder } from './temporary.ts';
import type { BucketOptions, ObjectStore, S3Target, StoreOptions } from './types.ts';

export interface StoreSetting {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The server's own folder; `data` in it holds the objects. */
  readonly folder: string;
  readonly dataDir: string;
  /** PEM files of the server's identity; only with TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

type Plan = Pick<ServerPlan, 'name' | 'command' | 'args' | 'env'>;

/** What the stores have in common: credentials, folders, certificates, readiness, buckets. */
export async function startObjectStore(
  kind: ObjectStore['kind'],
  options: StoreOptions,
  plan: (setting: StoreSetting) => Plan,
): Promise<ObjectStore> {
  const folder = temporaryFolder(kind);
  const { tls, caFile } = options.tls ? identity(folder.path) : { tls: undefined, caFile: undefined };
  const dataDir = join(folder.path, 'data');
  mkdirSync(dataDir);
  const credentials = {
    accessKeyId: `AK${randomBytes(9).toString('hex')}`,
    secretAccessKey: randomBytes(20).toString('hex'),
  };
  const ca = caFile && readFileSync(caFile, 'utf8');
  const server = await startServer({
    ...plan({ ...credentials, folder: folder.path, dataDir, tls }),
    folder: folder.path,
    scheme: tls ? 'https' : 'http',
    ready: async (url) => (await http(`${url}/`, { ca })).status === 403,
  });
  const target: S3Target = { endpoint: server.url, region: 'us-east-1', ...credentials, caFile };
  const client = await s3Client(target);
  return {
    kind,
    ...target,
    dataDir,
    client,
    ...delegated(server),
    get pid() {
      return server.pid;
    },
    createBucket: (name, wish) => createBucket(client, name, wish),
    async stop() {
      client.destroy();
      await server.stop();
      await folder.remove();
    },
  };
}

/** An SDK client for any target: path style, one attempt unless told otherwise. */
export async function s3Client(target: S3Target, maxAttempts = 1): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, region, accessKeyId, secretAccessKey, caFile } = target;
  const credentials = { accessKeyId, secretAccessKey };
  const trust = caFile
    ? { requestHandler: { httpsAgent: new Agent({ ca: readFileSync(caFile), keepAlive: true }) } }
    : {};
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts, ...trust });
}

function delegated({ port, url, logs, pause, resume }: Server) {
  return { port, url, logs, pause, resume };
}

function identity(folder: string) {
  const ca = createCertificateAuthority();
  const { cert, key } = ca.issue({ commonName: 'store' });
  const paths = ['public.crt', 'private.key', 'ca.pem'].map((name) => join(folder, name));
  const [certFile, keyFile, caFile] = paths as [string, string, string];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(caFile, ca.cert);
  return { tls: { cert: certFile, key: keyFile }, caFile };
}

async function createBucket(client: S3Client, name: string, options: BucketOptions = {}): Promise<void> {
  const { CreateBucketCommand, PutBucketVersioningCommand } = await import('@aws-sdk/client-s3');
  const lock = options.objectLock ? { ObjectLockEnabledForBucket: true } : {};
  await client.send(new CreateBucketCommand({ Bucket: name, ...lock }));
  if (!options.versioning) return;
  const VersioningConfiguration = { Status: 'Enabled' as const };
  await client.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }));
}
