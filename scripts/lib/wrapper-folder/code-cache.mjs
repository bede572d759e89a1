import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';

/** The text of /svc/svc-wrapper, behind its first line. */
export const LOADER = inRoot('scripts', 'wrapper-folder', 'svc-wrapper.cjs');
const WARM_UP = inRoot('scripts', 'wrapper-folder', 'warm-up.cjs');
const WRITER = inRoot('scripts', 'wrapper-folder', 'write-caches.cjs');
const timeoutMs = 60_000;

/**
 * Writes wrapper.cache and worker.cache: what V8 compiles of wrapper.cjs at a start and for a pass of a worker. They
 * differ from build to build and fit the very Node that made them. Where svc-init cannot start workers that end, there is
 * none for these.
 * @param node the folder's Node, as it came from npm, since that one runs here
 * @throws Error with what the start said
 */
export function writeCodeCaches(folder, { node, addon, init }) {
  const work = mkdtempSync(join(tmpdir(), 'svc-code-cache-'));
  try {
    copyFileSync(join(folder, 'wrapper.cjs'), join(work, 'wrapper.cjs'));
    copyFileSync(LOADER, join(work, 'svc-wrapper.cjs'));
    copyFileSync(WARM_UP, join(work, 'warm-up.cjs'));
    copyFileSync(addon, join(work, 'ffi-rs.node'));
    copyFileSync(init, join(work, 'svc-init'));
    const env = { PATH: process.env.PATH };
    const { stdout, stderr } = spawnSync(node, [WRITER, work], { env, encoding: 'utf8', timeout: timeoutMs });
    if (!existsSync(join(work, 'wrapper.cache')))
      throw new Error(`The wrapper did not start to be compiled: ${stdout}${stderr}`);
    for (const cache of ['wrapper.cache', 'worker.cache'])
      if (existsSync(join(work, cache))) copyFileSync(join(work, cache), join(folder, cache));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
