import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';

/** The text of /svc/svc-wrapper, behind its first line. */
export const LOADER = inRoot('scripts', 'wrapper-folder', 'svc-wrapper.cjs');
const WRITER = inRoot('scripts', 'wrapper-folder', 'write-cache.cjs');
const timeoutMs = 60_000;

/**
 * Writes wrapper.cache: what V8 compiles at a start of wrapper.cjs. It differs from build to build and fits the very Node
 * that made it.
 * @param node the folder's Node, as it came from npm, since that one runs here
 * @throws Error with what the start said
 */
export function writeCodeCache(folder, node, addon) {
  const work = mkdtempSync(join(tmpdir(), 'svc-code-cache-'));
  try {
    copyFileSync(join(folder, 'wrapper.cjs'), join(work, 'wrapper.cjs'));
    copyFileSync(LOADER, join(work, 'svc-wrapper.cjs'));
    copyFileSync(addon, join(work, 'ffi-rs.node'));
    const env = { PATH: process.env.PATH };
    const { stdout, stderr } = spawnSync(node, [WRITER, work], { env, encoding: 'utf8', timeout: timeoutMs });
    const cache = join(work, 'wrapper.cache');
    if (!existsSync(cache)) throw new Error(`The wrapper did not start to be compiled: ${stdout}${stderr}`);
    copyFileSync(cache, join(folder, 'wrapper.cache'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
