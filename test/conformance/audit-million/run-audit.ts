import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { BucketReport } from '../../../src/plugins/bulk/audit/report.ts';
import { launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { peakUntilEnd } from '../../support/process-memory.ts';
import type { ObjectStore } from '../../support/types.ts';
import { Bucket } from '../support/real-bed.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface AuditRun {
  /** Absent where it was killed. */
  readonly report: BucketReport | undefined;
  /** Most resident memory, bytes. */
  readonly peak: number;
  readonly seconds: number;
}

/**
 * Runs `svc audit` of the bucket, to its end or until `isEnough`, when it is killed.
 * @throws Error with its output where it fails
 */
export async function runAudit(
  store: ObjectStore,
  args: readonly string[],
  isEnough: () => boolean = () => false,
): Promise<AuditRun> {
  const begun = performance.now();
  const command = ['bin/run.js', 'audit', '--bucket', Bucket, '--json', ...args];
  const child = await launch(process.execPath, command, { cwd: root, env: environment(store) });
  const peak = await peakUntilEnd(child, isEnough);
  const killed = !child.ended;
  if (killed) await child.end('SIGKILL');
  const { code } = await child.exited;
  if (!killed && code !== 0) throw new Error(`svc audit ended with ${code}\n${child.logs()}`);
  const seconds = (performance.now() - begun) / 1_000;
  return { report: killed ? undefined : JSON.parse(child.logs()), peak, seconds };
}

function environment(store: ObjectStore): NodeJS.ProcessEnv {
  return cleanEnv({
    SVC_PROXY_UPSTREAM: store.endpoint,
    AWS_REGION: store.region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  });
}
