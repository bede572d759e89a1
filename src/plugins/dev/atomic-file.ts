import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a small file, readable by its owner only, so that readers see the old text or the new one, also after a crash.
 * Synchronous, so that memory and disk change in the same order.
 */
export function writeAtomically(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
