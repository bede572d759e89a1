import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmPack } from '../../support/npm.ts';
import { runCommand } from '../../support/run-command.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SAMPLE = fileURLToPath(new URL('../fixtures/sample', import.meta.url));
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

export interface Sample {
  /** Its folder, built. */
  readonly folder: string;
  /** What would be published of it. */
  readonly tarball: string;
  /** What tsc said; empty where it compiled. */
  readonly errors: string;
}

/**
 * Builds the sample plugin outside of this tree, against what `npm pack` makes of svc.
 * @param work an empty folder @param change of the plugin's sources, by path within them
 */
export async function buildSample(
  work: string,
  change: Readonly<Record<string, (text: string) => string>> = {},
): Promise<Sample> {
  const folder = join(work, 'sample');
  cpSync(SAMPLE, folder, { recursive: true });
  for (const [path, edit] of Object.entries(change)) {
    writeFileSync(join(folder, path), edit(readFileSync(join(folder, path), 'utf8')));
  }
  await placePackage(work, folder);
  const { stdout } = await runCommand(process.execPath, [TSC, '-p', '.'], folder);
  return { folder, tarball: (await npmPack(folder, work)).file, errors: stdout };
}

/** svc as it is published, and the types that it and the plugin need. */
async function placePackage(work: string, folder: string): Promise<void> {
  const { file } = await npmPack(ROOT, work);
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '@types'), { recursive: true });
  const { status, stderr } = await runCommand('tar', ['-xzf', file, '-C', packages], work);
  if (status !== 0) throw new Error(stderr);
  cpSync(join(packages, 'package'), join(packages, 'svc'), { recursive: true });
  for (const name of ['@oclif', '@types/node', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
}
