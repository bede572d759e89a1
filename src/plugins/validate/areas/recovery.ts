import type {
  RecoveryRehearsal,
  RehearsedDepth,
  RehearsedObject,
} from '../../../objects/format/recovery-rehearsal.ts';
import { SvcError } from '../../../runtime/errors.ts';
import { counted } from '../../../runtime/units.ts';
import {
  type Check,
  type CheckFailure,
  type CheckResult,
  type ExaminedObject,
  failed,
  passed,
  shared,
  skipped,
  verdictOnPart,
} from '../check.ts';
import { storeCheck } from '../make-check.ts';

/** Why the file of recovery keys is unusable, or what its keys have opened. */
type Rehearsed = { readonly unusable: SvcError } | { readonly rehearsal: RecoveryRehearsal };

const rehearsed = shared(async (context): Promise<Rehearsed> => {
  try {
    return { rehearsal: await context.rehearsal() };
  } catch (error) {
    if (error instanceof SvcError && error.code === 'RECOVERY_KEY') return { unusable: error };
    throw error;
  }
});

/** Practically no timeout: listing a large bucket may take hours. */
const timeoutMs = 24 * 3_600_000;

const keysReadable = storeCheck('SVC-RECOVERY-001', 'error', {
  timeoutMs,
  title: 'The file of recovery keys holds private keys',
  cause: 'It is another file, holds the public key, or cannot be read by this user.',
  fix: 'Name a file as age-keygen writes it (AGE-SECRET-KEY-1…), or one of 32 bytes, as they are or in base64.',
  async run(context) {
    const found = await rehearsed(context);
    if ('rehearsal' in found) return passed();
    return failed({ subject: context.config.recoveryKey ?? '', message: `${found.unusable.message}.` });
  },
});

const sealed = storeCheck('SVC-RECOVERY-002', 'error', {
  timeoutMs,
  title: 'Every sampled object is sealed to a recovery key of the file',
  cause:
    'It was written before --recovery-recipient was set, through a proxy without it, or for recovery keys that are not in the file. Without the key server nobody can read it.',
  fix: 'Set --recovery-recipient on every proxy of the bucket, and copy the objects onto themselves through one; or name the file of the key that was in use when they were written. svc audit --bucket counts objects by their recovery keys.',
  run: (context) =>
    judgeRehearsal(context, ({ faults, opened }, bucket) => ({
      failures: failuresOf(bucket, faults, (reason) => reason === unsealed),
      note: counted(opened.length, 'object'),
    })),
});

const opens = storeCheck('SVC-RECOVERY-003', 'error', {
  timeoutMs,
  title: 'Every sampled object opens with the recovery key alone, as far as it is read',
  cause:
    'Its body, its metadata or its part list was damaged or exchanged in the store, its part list is missing, or the store does not give it out, as with an archived object.',
  fix: 'Look the reason up in docs/TROUBLESHOOTING.md; restore an archived object; put back what is missing from a backup or an older version. With --state-bucket, name it here too.',
  run: (context) =>
    judgeRehearsal(context, (rehearsal, bucket) => ({
      failures: failuresOf(bucket, rehearsal.faults, (reason) => reason !== unsealed),
      note: depthsOf(rehearsal.opened),
      trusted: notSeen(rehearsal),
      examined: rehearsal.opened.map((one) => ({ subject: `${bucket}/${one.key}`, found: foundOf(one) })),
    })),
});

export const recoveryChecks: readonly Check[] = [keysReadable, sealed, opens];

const unsealed = 'not-recoverable';

interface Judgement {
  readonly failures: readonly CheckFailure[];
  readonly note: string;
  readonly trusted?: string | undefined;
  readonly examined?: readonly ExaminedObject[];
}

/** No check passes if the rehearsal has opened nothing. */
async function judgeRehearsal(
  context: Parameters<typeof rehearsed>[0],
  judge: (rehearsal: RecoveryRehearsal, bucket: string) => Judgement,
): Promise<CheckResult> {
  const found = await rehearsed(context);
  if ('unusable' in found) return skipped('Nothing was opened: SVC-RECOVERY-001 says why.');
  const { rehearsal } = found;
  const { bucket = '', prefix = '' } = context.config;
  const { failures, note, trusted, examined } = judge(rehearsal, bucket);
  const seen = examined && { examined };
  const { reason, permission } = gapOf(rehearsal, `${bucket}/${prefix}`) ?? {};
  if (reason !== undefined) return { ...verdictOnPart(failures, reason, permission), ...seen };
  if (failures.length > 0) return { ...failed(...failures), ...seen };
  return { ...passed(`${note} of ${rehearsal.listed} in ${bucket}/${prefix}`, trusted), ...seen };
}

/** The part of the sample that could not be examined; undefined if all of it was. */
function gapOf(
  { endedBy, denied, opened, faults, unencrypted, gone }: RecoveryRehearsal,
  place: string,
): { readonly reason: string; readonly permission?: string } | undefined {
  if (endedBy !== undefined) return { reason: `It ended early: ${endedBy.message}` };
  if (denied > 0)
    return {
      reason: `The credentials may not read ${counted(denied, 'object')} of the sample`,
      permission: 's3:GetObject',
    };
  if (opened.length + faults.length > 0) return undefined;
  if (unencrypted > 0) return { reason: `No sampled object of ${place} is encrypted` };
  return { reason: gone > 0 ? 'The sampled objects are gone' : `There are no objects in ${place}` };
}

const failuresOf = (
  bucket: string,
  faults: RecoveryRehearsal['faults'],
  concerns: (reason: string) => boolean,
): readonly CheckFailure[] =>
  faults
    .filter(({ reason }) => concerns(reason))
    .map(({ key, reason, message }) => ({
      subject: `${bucket}/${key}`,
      message: `${reason}: ${message.replace(/\.$/, '')}.`,
    }));

const depthWords: Readonly<Record<RehearsedDepth, string>> = {
  whole: 'read to its end',
  ends: 'read at its beginning and its end',
  keys: 'its keys opened, no body read',
};

function foundOf({ format, parts, depth }: RehearsedObject): string {
  const inParts = parts === undefined ? '' : ` in ${counted(parts, 'part')}`;
  return `format ${format}${inParts}, ${depthWords[depth]}`;
}

const depthCount = (opened: readonly RehearsedObject[], depth: RehearsedDepth): number =>
  opened.filter((one) => one.depth === depth).length;

const depthsOf = (opened: readonly RehearsedObject[]): string =>
  `${counted(opened.length, 'object')} (${depthCount(opened, 'whole')} to the end, ${depthCount(opened, 'ends')} at both ends, ${depthCount(opened, 'keys')} keys only)`;

/** The part of the sample that passed without proof. */
function notSeen({ opened, unencrypted, gone }: RecoveryRehearsal): string | undefined {
  const rest = opened.length - depthCount(opened, 'whole');
  const parts = [
    ...(rest > 0
      ? [`Of ${counted(rest, 'object')} larger than --read-whole the body was not read, or not all of it.`]
      : []),
    ...(unencrypted > 0 ? [`Sampled objects that are not encrypted: ${unencrypted}.`] : []),
    ...(gone > 0 ? [`Sampled objects that were deleted meanwhile: ${gone}.`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}
