import type { CheckFinding, Outcome } from '../../../core/checks/contract.ts';
import { outcomeOf } from '../../../core/checks/outcome.ts';
import type { AuditTerms } from '../terms.ts';
import type { AuditId } from './progress-file.ts';
import type { Sample } from './sample.ts';
import type { Tally } from './tally.ts';

/** What was found in a bucket. `version` is that of this form: members are added, never changed. */
export interface BucketReport {
  readonly version: 1;
  readonly kind: 'bucket';
  readonly store: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Only where a sample was looked at: everything below is of the sample then, but for `helpers`. */
  readonly sample?: Sample;
  readonly tally: Tally;
  readonly outcome: Outcome;
}

export function bucketReport(
  { store, bucket, prefix }: AuditId,
  tally: Tally,
  sample: Sample | undefined,
  { failOn }: AuditTerms,
): BucketReport {
  const found = { error: tally.plaintext + tally.unreadable, warning: 0, info: 0 };
  return {
    ...{ version: 1, kind: 'bucket', store, bucket, prefix },
    ...(sample && { sample }),
    tally,
    outcome: outcomeOf(found, failOn),
  };
}

export const bucketRules = [
  {
    id: 'plaintext-object',
    summary: 'An object is stored as it was written, without encryption by svc.',
    help: 'Read it and write it again through the proxy, and find out who writes to the bucket past it.',
  },
  {
    id: 'unreadable-metadata',
    summary:
      'The metadata of svc is incomplete, changed, or does not fit the object, so that it cannot be read.',
    help: 'Restore the object from a version or copy of which the metadata is whole.',
  },
] as const;

/** One for each key that is listed, and one for those that are not. */
export function bucketFindings({ bucket, tally }: BucketReport): readonly CheckFinding[] {
  const of = (rule: (typeof bucketRules)[number], keys: readonly string[], all: number): CheckFinding[] => {
    const finding = { id: rule.id, level: 'error' } as const;
    const each = keys.map((key) => ({ ...finding, subject: `${bucket}/${key}`, message: rule.summary }));
    const rest = all - keys.length;
    if (rest <= 0) return each;
    return [
      ...each,
      { ...finding, subject: bucket, message: `${rest} more that are not listed. ${rule.summary}` },
    ];
  };
  const [plaintext, unreadable] = bucketRules;
  return [
    ...of(plaintext, tally.plaintextKeys, tally.plaintext),
    ...of(unreadable, tally.unreadableKeys, tally.unreadable),
  ];
}
