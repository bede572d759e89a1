import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../core/errors.ts';

/** Exit statuses of shells and container runtimes for a program that cannot be run. */
export const programStatus = {
  /** The program is there and cannot be executed. */
  notExecutable: 126,
  /** There is no such program. */
  notFound: 127,
} as const;

/** Where to look without PATH. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The file that is to be executed: a name with a slash is taken as it is, any other looked for in `path`.
 * @param path directories with a colon between them; an empty one is the working directory
 * @throws SvcError PROGRAM_NOT_FOUND (exit 127) or PROGRAM_NOT_EXECUTABLE (exit 126)
 */
export function findProgram(file: string, path: string = process.env['PATH'] ?? defaultPath): string {
  const candidates = file.includes('/') ? [file] : path.split(':').map((folder) => join(folder || '.', file));
  const failures = file === '' ? [] : candidates.map((candidate) => executableProblem(candidate));
  const found = failures.indexOf(undefined);
  if (found !== -1) return candidates[found] as string;
  const refused = failures.find((failure) => failure !== 'missing');
  throw refused === undefined ? notFound(file) : notExecutable(file, refused);
}

/** Undefined for a file that can be executed. */
function executableProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'it is no regular file';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return missing.has(code ?? '') ? 'missing' : `it may not be executed (${code})`;
  }
}

const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']);

/** The same judgement about a failed `posix_spawn` or `execve` of a file that was there. */
export function cannotExecute(file: string, cause: Error & { errnoName?: string }): SvcError {
  const { errnoName = '' } = cause;
  if (missing.has(errnoName)) return notFound(file, cause);
  if (errnoName === 'E2BIG') return tooLong(file, cause);
  const reason =
    errnoName === 'ENOEXEC' ? 'it is neither a program for this machine nor a script with #!' : '';
  return notExecutable(file, reason || cause.message, cause);
}

function tooLong(file: string, cause: Error): SvcError {
  const what = 'arguments and environment are longer than the system takes';
  return new SvcError('ARGUMENTS_TOO_LONG', `The program ${JSON.stringify(file)} cannot be run: ${what}`, {
    nextStep: 'Give it fewer or shorter arguments and variables.',
    exitStatus: programStatus.notExecutable,
    cause,
  });
}

function notFound(file: string, cause?: Error): SvcError {
  const what = cause ? 'or the interpreter that it names, is not there' : 'is not there';
  return new SvcError('PROGRAM_NOT_FOUND', `The program ${JSON.stringify(file)}${cause ? ',' : ''} ${what}`, {
    nextStep: 'Correct the command, or PATH.',
    exitStatus: programStatus.notFound,
    cause,
  });
}

function notExecutable(file: string, reason: string, cause?: Error): SvcError {
  return new SvcError(
    'PROGRAM_NOT_EXECUTABLE',
    `The program ${JSON.stringify(file)} cannot be run: ${reason}`,
    {
      nextStep: 'Make it executable (chmod +x), and a script begin with #! and its interpreter.',
      exitStatus: programStatus.notExecutable,
      cause,
    },
  );
}
