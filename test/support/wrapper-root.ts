import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ToolUnavailable } from './tool-unavailable.ts';

const BUNDLE = fileURLToPath(new URL('../../scripts/bundle-wrapper.mjs', import.meta.url));

/** Makes the root of the wrapper image: its folder at /svc and nothing else. */
export function makeWrapperRoot(root: string): void {
  const { status, stderr } = spawnSync(process.execPath, [BUNDLE, '--out', join(root, 'svc')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new ToolUnavailable('packages of the wrapper folder', stderr.trim());
}
