import { type StoreAddress, storeOf, storeSettings } from '../../../objects/upstream/store-settings.ts';
import { createProgress, painter, type Screen } from '../../../runtime/cli/terminal.ts';
import { sectionOfFile } from '../../../runtime/component/read-config.ts';
import { certificateErrorCode, httpStatusOf, SvcError } from '../../../runtime/errors.ts';
import { checkStatus, type FailOn } from '../../../runtime/report/check-outcome.ts';
import { sarifLog } from '../../../runtime/report/sarif.ts';
import { resolveSettings } from '../../../runtime/settings/resolve.ts';
import type { CommandStore, Head, ListedObject } from '../engine/command-store.ts';
import { type Env, workOn } from '../engine/run.ts';
import { RandomSample } from '../engine/sample.ts';
import { openSdkStore } from '../engine/sdk-store.ts';
import { failureName, trustStep } from '../engine/store-failure.ts';
import { type AuditId, type AuditProgress, readProgress, writeProgress } from './progress-file.ts';
import { type BucketReport, bucketFindings, bucketReport, bucketRules, bucketText } from './report.ts';
import { countHead, emptyTally, type ObjectSample, sampleOf, type Tally } from './tally.ts';

interface Output extends Screen {
  write(text: string): unknown;
}

/** What `svc audit` was called with, as far as it is about a bucket. */
export interface BucketAuditCall {
  readonly flags: {
    readonly prefix?: string | undefined;
    readonly resume?: string | undefined;
    readonly config?: string | undefined;
  };
  readonly env: Env;
  readonly stdout: Output;
  /** For progress. */
  readonly stderr: Output;
  /** Of svc. */
  readonly version: string;
}

export interface BucketAuditTerms {
  readonly format: 'table' | 'json' | 'sarif' | 'html';
  readonly failOn: FailOn;
  readonly sample: number | undefined;
  /** Limit of keys to list for each kind of finding. */
  readonly list: number;
  readonly concurrency: number;
}

/** Audits a bucket, writes the report, and resolves with the exit status. @throws SvcError */
export async function auditBucket(
  call: BucketAuditCall,
  terms: BucketAuditTerms,
  bucket: string,
  signal: AbortSignal,
): Promise<number> {
  const { flags, env } = call;
  const file = await sectionOfFile(flags.config, env, 'audit', storeSettings);
  const sources = { flags: flags as Readonly<Record<string, string>>, env, file };
  const settings = resolveSettings(storeSettings, sources);
  const address = storeOf(settings);
  const { prefix = '' } = flags;
  const { reservedPrefix } = settings;
  const id: AuditId = { store: address.upstream.href, bucket, prefix, reservedPrefix };
  const store = await openSdkStore('audit', address, env);
  try {
    const { tally, sample } = await lookAtBucket({ store, id, call, terms, signal });
    const report = bucketReport(id, tally, sample, terms.failOn);
    call.stdout.write(`${inFormat(report, call, terms)}\n`);
    return report.outcome.exitStatus;
  } catch (error) {
    if (error instanceof SvcError || signal.aborted) throw error;
    throw storeFailure(error, address, bucket, flags.resume);
  } finally {
    store.close();
  }
}

function inFormat(
  report: BucketReport,
  { stdout, env, version }: BucketAuditCall,
  { format }: BucketAuditTerms,
): string {
  if (format === 'table') return bucketText(report, painter(stdout, env));
  if (format === 'json') return JSON.stringify(report, null, 2);
  const tool = { name: 'svc audit', version, rules: bucketRules };
  return JSON.stringify(sarifLog(tool, bucketFindings(report)), null, 2);
}

export interface BucketLook {
  readonly store: Pick<CommandStore, 'list' | 'head'>;
  readonly id: AuditId;
  readonly call: BucketAuditCall;
  readonly terms: BucketAuditTerms;
  readonly signal: AbortSignal;
}

interface Looked {
  readonly tally: Tally;
  readonly sample?: ObjectSample;
}

/** Examines a sample or everything, continuing an interrupted audit. */
export async function lookAtBucket(look: BucketLook): Promise<Looked> {
  const { call, terms } = look;
  const progress = createProgress(call.stderr, call.env);
  try {
    if (terms.sample === undefined) return await lookAtAll(look, progress.show);
    return await lookAtSample(look, terms.sample, progress.show);
  } finally {
    progress.clear();
  }
}

/** Every object after the last one that an interrupted audit counted. */
async function lookAtAll(look: BucketLook, show: (text: string) => void): Promise<Looked> {
  const { id, call, store, signal } = look;
  const { resume } = call.flags;
  const begin: AuditProgress =
    resume === undefined ? { after: undefined, tally: emptyTally() } : readProgress(resume, id);
  const { tally } = begin;
  let { after } = begin;
  const keep = (done: boolean) => {
    if (resume !== undefined) writeProgress(resume, id, { after, tally, done });
  };
  await lookAt(look, store.list(id.bucket, id.prefix, { after, signal }), tally, (last) => {
    after = last.key;
    keep(false);
    show(`${tally.objects.toLocaleString('en')} objects, ${tally.encrypted.toLocaleString('en')} encrypted`);
  });
  keep(true);
  return { tally };
}

/** Lists everything, with one call per thousand objects, and examines `size` of them, all with the same probability. */
async function lookAtSample(look: BucketLook, size: number, show: (text: string) => void): Promise<Looked> {
  const { id, store, signal } = look;
  const tally = emptyTally();
  const chosen = new RandomSample<ListedObject>(size);
  for await (const page of store.list(id.bucket, id.prefix, { signal })) {
    for (const object of page)
      if (isHelper(object, id)) tally.helpers++;
      else chosen.add(object);
    show(`${chosen.seen.toLocaleString('en')} objects listed`);
    signal.throwIfAborted();
  }
  await lookAt(look, [chosen.entries], tally);
  return { tally, sample: sampleOf(tally, chosen.seen) };
}

/** The proxy's own objects are not examined. */
const isHelper = ({ key }: ListedObject, { reservedPrefix }: AuditId): boolean =>
  key.startsWith(reservedPrefix);

/**
 * Counts only when all heads of a page are there, in order, so that a page counts completely or not at all.
 * @param onPage called when a whole page is counted, with its last object
 */
async function lookAt(
  { id, store, terms, signal }: BucketLook,
  pages: AsyncIterable<readonly ListedObject[]> | Iterable<readonly ListedObject[]>,
  tally: Tally,
  onPage: (last: ListedObject) => void = () => undefined,
): Promise<void> {
  const { concurrency, list } = terms;
  await workOn({ pages, concurrency, signal }, (page) => {
    const heads = new Map<ListedObject, Head>();
    return {
      async each(object, own) {
        if (isHelper(object, id)) return;
        heads.set(object, await store.head({ bucket: id.bucket, key: object.key }, own));
      },
      done() {
        for (const object of page) {
          const head = heads.get(object);
          if (head === undefined) tally.helpers++;
          else countHead(tally, object, head, list);
        }
        const last = page.at(-1);
        if (last !== undefined) onPage(last);
        signal.throwIfAborted();
      },
    };
  });
}

/**
 * Names what is missing, as far as the store reports it. The status is "could not be evaluated", except for a rejected
 * certificate, which is a matter of configuration.
 */
function storeFailure(
  cause: unknown,
  { upstream: { host } }: StoreAddress,
  bucket: string,
  resume: string | undefined,
): SvcError {
  const certificate = certificateErrorCode(cause);
  if (certificate !== undefined) {
    const message = `The certificate of the object store ${host} is not accepted (${certificate})`;
    return new SvcError('CONFIG_INVALID', message, {
      nextStep: trustStep,
      exitStatus: checkStatus.usage,
      cause,
    });
  }
  const [code, what, step] = described(httpStatusOf(cause), failureName(cause), bucket);
  const again = resume === undefined ? 'then run it again.' : `then run it again; it goes on from ${resume}.`;
  return new SvcError(code, `The object store ${host} ${what}`, {
    nextStep: `${step} ${again}`,
    exitStatus: checkStatus.notEvaluated,
    cause,
  });
}

function described(status: number | undefined, name: string, bucket: string) {
  if (status === 403 || status === 401)
    return [
      'AUDIT_DENIED',
      `does not let the audit read bucket ${bucket} (${name})`,
      `Allow s3:ListBucket on the bucket and s3:GetObject on its objects,`,
    ] as const;
  if (status === 404) return ['AUDIT_NO_BUCKET', `has no bucket ${bucket}`, 'Check its name,'] as const;
  return [
    'AUDIT_STORE_FAILED',
    `failed or could not be reached (${name})`,
    'Check --upstream, and that credentials can be found,',
  ] as const;
}
