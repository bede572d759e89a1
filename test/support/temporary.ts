import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reapFolder } from './reaper.ts';

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A folder of one's own under the system's temporary folder, removed at the latest when the process exits. */
export function temporaryFolder(purpose: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `svc-test-${purpose}-`));
  const forget = reapFolder(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      forget();
    },
  };
}
