import { sarifLog } from '../../../core/checks/sarif.ts';
import { SvcError } from '../../../core/errors.ts';
import { resolveSettings } from '../../../core/settings/resolve.ts';
import { painter } from '../../../runtime/cli/terminal.ts';
import { sectionOfFile } from '../../../runtime/config/load-file.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeClient } from '../../../runtime/object-store/s3-client.ts';
import { type StoreAddress, storeOf, storeSettings } from '../../../runtime/object-store/settings.ts';
import { trustedAuthorities } from '../../../runtime/object-store/trust.ts';
import type { AuditCall } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import { storeFailure } from './failure.ts';
import { lookAtBucket } from './look.ts';
import type { AuditId } from './progress-file.ts';
import { type BucketReport, bucketFindings, bucketReport, bucketRules } from './report.ts';
import { s3AuditStore } from './s3-store.ts';
import type { AuditStore } from './store.ts';
import { bucketText } from './text.ts';

/** Audits a bucket, writes the report, and resolves with the exit status. @throws SvcError */
export async function auditBucket(
  call: AuditCall,
  terms: AuditTerms,
  bucket: string,
  signal: AbortSignal,
): Promise<number> {
  const { flags, env } = call;
  const file = await sectionOfFile(flags.config, env, 'audit', storeSettings);
  const sources = { flags: flags as unknown as Readonly<Record<string, string>>, env, file };
  const settings = resolveSettings(storeSettings, sources);
  const address = storeOf(settings);
  const { prefix = '', resume } = flags;
  const id: AuditId = {
    ...{ store: address.upstream.href, bucket, prefix, reservedPrefix: settings.reservedPrefix },
  };
  const store = await openStore(address, env, bucket, prefix);
  try {
    const { tally, sample } = await lookAtBucket({ store, id, call, terms, signal });
    const report = bucketReport(id, tally, sample, terms);
    call.stdout.write(`${inFormat(report, call, terms)}\n`);
    return report.outcome.exitStatus;
  } catch (error) {
    if (error instanceof SvcError || signal.aborted) throw error;
    throw storeFailure(error, { host: address.upstream.host, bucket, resume });
  } finally {
    store.close();
  }
}

async function openStore(
  address: StoreAddress,
  env: AuditCall['env'],
  bucket: string,
  prefix: string,
): Promise<AuditStore> {
  const log = await createLogger({ component: 'audit', level: 'error' });
  const credentials = defaultCredentials(env, log);
  return s3AuditStore(storeClient({ address, credentials, ca: trustedAuthorities(env) }), bucket, prefix);
}

function inFormat(report: BucketReport, { stdout, env, version }: AuditCall, { format }: AuditTerms): string {
  if (format === 'table') return bucketText(report, painter(stdout, env));
  if (format === 'json') return JSON.stringify(report, null, 2);
  const tool = { name: 'svc audit', version, rules: bucketRules };
  return JSON.stringify(sarifLog(tool, bucketFindings(report)), null, 2);
}
