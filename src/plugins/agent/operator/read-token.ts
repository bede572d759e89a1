import { readFile } from 'node:fs/promises';
import { ReportError } from './report-error.ts';

/** The token as it is now: the kubelet writes another one before it ends. @throws ReportError token_file */
export async function readToken(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ReportError('token_file', `the token file cannot be used (${path}): ${cause.code}`, { cause });
  });
  const token = text.trim();
  if (/^[\w.-]+$/.test(token)) return token;
  throw new ReportError('token_file', `the token file cannot be used (${path}): there is no token in it`);
}
