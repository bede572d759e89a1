import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { SvcError } from '../../../runtime/errors.ts';
import { checkStatus } from '../../../runtime/report/check-outcome.ts';
import { emptyTally, type Tally } from './tally.ts';

/** Identifies the audit that a file belongs to; a file of another audit is refused. */
export interface AuditId {
  readonly store: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly reservedPrefix: string;
}

export interface AuditProgress {
  /** The last counted key; undefined if none. */
  readonly after: string | undefined;
  readonly tally: Tally;
}

interface Kept extends Partial<AuditId> {
  readonly version?: unknown;
  readonly done?: unknown;
  readonly after?: unknown;
  readonly tally?: unknown;
}

const version = 1;
const names = ['store', 'bucket', 'prefix', 'reservedPrefix'] as const;

/**
 * Where an interrupted audit continues: at the beginning if there is no file, or its audit was completed.
 * @throws SvcError AUDIT_USAGE for a file of another audit, or any other file
 */
export function readProgress(path: string, id: AuditId): AuditProgress {
  const kept = parsed(path);
  if (kept === undefined) return { after: undefined, tally: emptyTally() };
  const differing = names.filter((name) => kept[name] !== id[name]);
  if (differing.length > 0)
    throw wrongFile(differing.map((name) => `--resume: ${path} is of an audit with another ${name}`));
  if (kept.done === true) return { after: undefined, tally: emptyTally() };
  if (typeof kept.after !== 'string' || !isTally(kept.tally)) throw wrongFile([unusable(path)]);
  return { after: kept.after, tally: kept.tally };
}

function parsed(path: string): Kept | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw wrongFile([`--resume: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  try {
    const kept: Kept | null = JSON.parse(text);
    if (kept?.version === version) return kept;
  } catch {}
  throw wrongFile([unusable(path)]);
}

const unusable = (path: string) =>
  `--resume: ${path} is not the progress of an audit that this version can resume`;

const wrongFile = (details: readonly string[]): SvcError =>
  new SvcError('AUDIT_USAGE', 'The audit was called wrongly', {
    nextStep: 'Run `svc audit --help` to see what it takes.',
    exitStatus: checkStatus.usage,
    details,
  });

/** Whether every member has the same type as in an empty tally, and counts are valid numbers. */
function isTally(value: unknown): value is Tally {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.entries(emptyTally()).every(([name, empty]) => {
    const own = given[name];
    if (typeof empty === 'number') return isCount(own);
    if (Array.isArray(empty)) return Array.isArray(own) && own.every((one) => typeof one === 'string');
    return (
      typeof own === 'object' && own !== null && !Array.isArray(own) && Object.values(own).every(isCount)
    );
  });
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

/** Replaces the file atomically; only its owner can read the keys in it. @throws SvcError AUDIT_USAGE */
export function writeProgress(
  path: string,
  id: AuditId,
  progress: AuditProgress & { readonly done: boolean },
): void {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(beside, 'w', 0o600);
    try {
      writeFileSync(file, JSON.stringify({ version, ...id, ...progress }));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw wrongFile([`--resume: ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`]);
  }
}
