import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Outside of the work tree, so that a fresh clone need not fetch again. */
export function cacheFolder(env = process.env) {
  const root = env['SVC_WRAPPER_FOLDER_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'));
  return join(root, 'svc-wrapper-folder');
}

export function sha256(content) {
  return createHash('sha256').update(content).digest('hex');
}

export function sha256File(path) {
  return sha256(readFileSync(path));
}

/** The folder that `fill` once made for these inputs; one that was cut short is never taken for whole. */
export function cached(name, inputs, fill) {
  const folder = join(cacheFolder(), `${name}-${sha256(JSON.stringify(inputs)).slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cacheFolder(), { recursive: true });
  const temporary = mkdtempSync(`${folder}.tmp-`);
  try {
    fill(temporary);
    moveUnlessThere(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return folder;
}

/** Another run may have made the same meanwhile. */
function moveUnlessThere(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
