import type { Screen } from '../../runtime/cli/terminal.ts';
import { SvcError } from '../../runtime/errors.ts';
import { checkStatus, type FailOn } from '../../runtime/report/check-outcome.ts';

export interface AuditTerms extends Terms {
  readonly bucket: string | undefined;
  readonly minScore: number | undefined;
  readonly below: number | undefined;
  readonly sample: number | undefined;
  /** Limit of keys to list for each kind of finding. */
  readonly list: number;
  readonly concurrency: number;
}

const bucketName = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;
const clusterOnly = ['min-score', 'namespace', 'kind', 'below'] as const;

/** @throws SvcError AUDIT_USAGE listing every error */
export function readTerms(flags: AuditFlags): AuditTerms {
  const errors: string[] = [];
  const number = (
    name: 'min-score' | 'below' | 'sample' | 'list' | 'concurrency',
    min: number,
    max: number,
  ) => {
    const text = flags[name];
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
    errors.push(`--${name}: should be a whole number from ${min} to ${max}`);
    return undefined;
  };
  const terms: AuditTerms = {
    format: flags.json ? 'json' : flags.output,
    failOn: flags['fail-on'],
    bucket: flags.bucket,
    minScore: number('min-score', 0, 100),
    below: number('below', 0, 101),
    sample: number('sample', 1, 100_000),
    list: number('list', 0, 10_000) ?? 20,
    concurrency: number('concurrency', 1, 64) ?? 16,
  };
  errors.push(...together(flags, terms));
  if (errors.length > 0) throw usage(errors);
  return terms;
}

function together(flags: AuditFlags, { format, bucket }: AuditTerms): readonly string[] {
  const errors: string[] = [];
  if (flags.watch && (format === 'sarif' || format === 'html'))
    errors.push(`--watch: has no ${format.toUpperCase()} form; use -o table or -o json`);
  if (bucket === undefined) return errors;
  if (!bucketName.test(bucket)) errors.push('--bucket: should be the name of a bucket');
  if (format === 'html')
    errors.push('-o html: is a report of a cluster; with --bucket use -o table, json or sarif');
  for (const name of clusterOnly)
    if (flags[name] !== undefined)
      errors.push(`--${name}: is about workloads and has no effect with --bucket`);
  return errors;
}

function usage(errors: readonly string[]): SvcError {
  return new SvcError('AUDIT_USAGE', 'The audit was called wrongly', {
    nextStep: 'Run `svc audit --help` to see what it takes.',
    exitStatus: checkStatus.usage,
    details: errors,
  });
}

export type AuditEnv = Readonly<Record<string, string | undefined>>;
export type AuditFormat = 'table' | 'json' | 'sarif' | 'html';

export interface AuditOutput extends Screen {
  readonly rows?: number;
  /** @param written called when the file is written, or with the error */
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

/** The flags of `svc audit`, by name. */
export interface AuditFlags {
  readonly output: AuditFormat;
  readonly json: boolean;
  readonly 'fail-on': FailOn;
  readonly 'min-score'?: string | undefined;
  readonly scope: 'all' | 'asking';
  readonly namespace?: readonly string[] | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly below?: string | undefined;
  readonly watch: boolean;
  readonly 'operator-namespace': string;
  readonly bucket?: string | undefined;
  readonly prefix?: string | undefined;
  readonly sample?: string | undefined;
  readonly list?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly resume?: string | undefined;
  readonly config?: string | undefined;
}

export interface AuditCall {
  readonly flags: AuditFlags;
  readonly env: AuditEnv;
  readonly stdout: AuditOutput;
  /** For progress. */
  readonly stderr: AuditOutput;
  /** Of svc. */
  readonly version: string;
}

/** How the results are reported. */
interface Terms {
  readonly format: AuditFormat;
  readonly failOn: FailOn;
}
