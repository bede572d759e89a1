import { interruptible } from '../../runtime/cli/terminal.ts';
import { type AuditCall, type AuditTerms, readTerms } from './terms.ts';

/** Audits a bucket: the part of another component, which is loaded only if it is needed. */
type BucketAudit = (
  call: AuditCall,
  terms: AuditTerms,
  bucket: string,
  signal: AbortSignal,
) => Promise<number>;

/**
 * Audits the cluster or the bucket that the flags name, writes the report, and resolves with the exit status.
 * @throws SvcError for wrong usage, or if the cluster or the bucket cannot be read
 */
export async function audit(call: AuditCall, bucketAudit: () => Promise<BucketAudit>): Promise<number> {
  const terms = readTerms(call.flags);
  return interruptible(async (signal) => {
    if (terms.bucket !== undefined) {
      const auditBucket = await bucketAudit();
      return auditBucket(call, terms, terms.bucket, signal);
    }
    const { auditCluster } = await import('./cluster/audit-cluster.ts');
    return auditCluster(call, terms, signal);
  });
}
