import { createProgress } from '../../../runtime/cli/progress.ts';
import type { AuditCall } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import { auditAll } from './audit-all.ts';
import { type AuditId, type Progress, readProgress, writeProgress } from './progress-file.ts';
import { auditSample, type Sample } from './sample.ts';
import type { AuditStore } from './store.ts';
import { emptyTally, type Tally } from './tally.ts';

export interface BucketLook {
  readonly store: AuditStore;
  readonly id: AuditId;
  readonly call: AuditCall;
  readonly terms: AuditTerms;
  readonly signal: AbortSignal;
}

/** Looks at a sample, or at everything, from where an interrupted audit had got to. */
export async function lookAtBucket(look: BucketLook): Promise<{ tally: Tally; sample: Sample | undefined }> {
  const { store, id, call, terms, signal } = look;
  const progress = createProgress(call.stderr, call.env);
  const { list, concurrency } = terms;
  const options = { store, reservedPrefix: id.reservedPrefix, list, concurrency, signal };
  try {
    if (terms.sample === undefined)
      return { tally: await lookAtAll(look, options, progress.show), sample: undefined };
    const tally = emptyTally();
    const told = (listed: number) => progress.show(`${listed.toLocaleString('en')} objects listed`);
    return { sample: await auditSample(tally, terms.sample, options, told), tally };
  } finally {
    progress.clear();
  }
}

async function lookAtAll(
  { id, call }: BucketLook,
  options: Parameters<typeof auditAll>[2],
  show: (text: string) => void,
): Promise<Tally> {
  const { resume } = call.flags;
  const begin: Progress =
    resume === undefined ? { after: undefined, tally: emptyTally() } : readProgress(resume, id);
  const { tally } = begin;
  let { after } = begin;
  const keep = (done: boolean) => {
    if (resume !== undefined) writeProgress(resume, id, { after, tally, done });
  };
  await auditAll(tally, after, options, (lastKey) => {
    after = lastKey;
    keep(false);
    show(`${tally.objects.toLocaleString('en')} objects, ${tally.encrypted.toLocaleString('en')} encrypted`);
  });
  keep(true);
  return tally;
}
