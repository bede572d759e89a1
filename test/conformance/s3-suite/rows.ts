import { startMinio } from '../../support/minio.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { runCommand } from '../../support/run-command.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { ObjectStore, S3Target } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { requireTool } from '../../testbed/ensure.ts';
import type { Row } from './compare.ts';

const longestRunMs = 1_800_000;

export type SuiteName = 's3-suite' | 'minio-go-suite';

/** Part of a suite, and the store that it is run against. */
export interface Wanted {
  readonly suite: SuiteName;
  readonly store: ObjectStore['kind'];
  /** That of a store which keeps versions; of `s3-suite` alone, in place of everything else. */
  readonly versioning: boolean;
}

export interface Found {
  readonly atStore: readonly Row[];
  readonly throughProxy: readonly Row[];
}

/**
 * Runs a suite against a store, and at the same time through a proxy against another one. Callers of the proxy sign with
 * the store's own keys, so that signatures are judged on both sides, and do not see the headers of the envelope, which
 * rows that compare metadata would stop at.
 * @throws ToolUnavailable
 */
export async function suiteRows(wanted: Wanted): Promise<Found> {
  const options = { keepAlive: true, versioning: wanted.versioning || wanted.suite === 'minio-go-suite' };
  const start = () => (wanted.store === 'minio' ? startMinio() : startVersityGw(options));
  const [bao, bare, store] = await Promise.all([startOpenBao(), start(), start()]);
  await bao.enableTransit();
  const proxy = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token: await bao.policyToken() },
    args: ['--envelope-headers', 'hidden'],
    env: {
      SVC_PROXY_ACCESS_KEY_ID: store.accessKeyId,
      SVC_PROXY_SECRET_ACCESS_KEY: store.secretAccessKey,
    },
  });
  try {
    const [atStore, throughProxy] = await Promise.all([
      runSuite(bare, wanted),
      runSuite(proxy.target, wanted),
    ]);
    return { atStore, throughProxy };
  } finally {
    await proxy.stop();
    await Promise.all([bao.stop(), bare.stop(), store.stop()]);
  }
}

const invocations: Readonly<Record<SuiteName, (target: S3Target, wanted: Wanted) => Invocation>> = {
  's3-suite': ({ endpoint, region, accessKeyId, secretAccessKey }, { versioning }) => ({
    args: ['-endpoint', endpoint, ...(versioning ? ['-versioning'] : [])],
    env: { AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
  }),
  'minio-go-suite': ({ endpoint, accessKeyId, secretAccessKey }) => ({
    args: [],
    env: {
      SERVER_ENDPOINT: new URL(endpoint).host,
      ACCESS_KEY: accessKeyId,
      SECRET_KEY: secretAccessKey,
      ENABLE_HTTPS: '0',
      MINT_MODE: 'full',
      RUN_ON_FAIL: '1',
    },
  }),
};

interface Invocation {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function runSuite(target: S3Target, wanted: Wanted): Promise<Row[]> {
  const { suite } = wanted;
  const { bins } = await requireTool(suite);
  const folder = temporaryFolder(suite);
  const { args, env } = invocations[suite](target, wanted);
  try {
    const wish = { env: { HOME: folder.path, ...env }, timeoutMs: longestRunMs };
    const ended = await runCommand(bins[suite] as string, args, folder.path, wish);
    if (ended.status !== 0)
      throw new Error(`${suite} ended with status ${ended.status}: ${ended.stderr.slice(-2000)}`);
    return ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } finally {
    await folder.remove();
  }
}
