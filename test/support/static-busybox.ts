import { join } from 'node:path';
import { ARCHITECTURES } from '../../scripts/lib/wrapper-folder/architectures.mjs';
import { debianPackages } from '../../scripts/lib/wrapper-folder/debian.mjs';
import { ToolUnavailable } from './tool-unavailable.ts';

/** Path of a static busybox. */
export function staticBusybox(): string {
  const host = ARCHITECTURES[process.arch as keyof typeof ARCHITECTURES];
  try {
    const { folder } = debianPackages('tests', host.debian, { frozen: false, say: () => undefined });
    return join(folder, 'bin', 'busybox');
  } catch (cause) {
    throw new ToolUnavailable('busybox-static', cause instanceof Error ? cause.message : '', { cause });
  }
}
