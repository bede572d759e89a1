import { startOpenBao } from '../../support/openbao.ts';
import { runCommand } from '../../support/run-command.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { S3Target } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { requireTool } from '../../testbed/ensure.ts';
import type { Row } from './compare.ts';

const longestRunMs = 1_800_000;

export interface Found {
  readonly atStore: readonly Row[];
  readonly throughProxy: readonly Row[];
}

/**
 * Runs the suite against a store, and at the same time through a proxy against another one. Callers of the proxy sign with
 * the store's own keys, so that signatures are judged on both sides.
 * @throws ToolUnavailable
 */
export async function suiteRows(versioning: boolean): Promise<Found> {
  const options = { keepAlive: true, versioning };
  const [bao, bare, store] = await Promise.all([
    startOpenBao(),
    startVersityGw(options),
    startVersityGw(options),
  ]);
  await bao.enableTransit();
  const proxy = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token: await bao.policyToken() },
    env: {
      SVC_PROXY_ACCESS_KEY_ID: store.accessKeyId,
      SVC_PROXY_SECRET_ACCESS_KEY: store.secretAccessKey,
    },
  });
  try {
    const [atStore, throughProxy] = await Promise.all([
      runSuite(bare, versioning),
      runSuite(proxy.target, versioning),
    ]);
    return { atStore, throughProxy };
  } finally {
    await proxy.stop();
    await Promise.all([bao.stop(), bare.stop(), store.stop()]);
  }
}

async function runSuite(target: S3Target, versioning: boolean): Promise<Row[]> {
  const { bins } = await requireTool('s3-suite');
  const folder = temporaryFolder('s3-suite');
  const args = ['-endpoint', target.endpoint, ...(versioning ? ['-versioning'] : [])];
  const env = {
    HOME: folder.path,
    AWS_REGION: target.region,
    AWS_ACCESS_KEY_ID: target.accessKeyId,
    AWS_SECRET_ACCESS_KEY: target.secretAccessKey,
  };
  try {
    const wish = { env, timeoutMs: longestRunMs };
    const { status, stdout, stderr } = await runCommand(bins['s3-suite'] as string, args, folder.path, wish);
    if (status !== 0) throw new Error(`the suite ended with status ${status}: ${stderr}`);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } finally {
    await folder.remove();
  }
}
