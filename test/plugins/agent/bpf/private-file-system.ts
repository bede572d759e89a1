import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBpfFileSystem } from '../../../../src/plugins/agent/bpf/libbpf.ts';

export interface PrivateFileSystem {
  readonly path: string;
  /** Unmounts it, which lets go of all that is pinned there. It is called as the process exits. */
  remove(): void;
}

/** A BPF file system of one's own. */
export function privateFileSystem(): PrivateFileSystem {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-bpffs-'));
  ensureBpfFileSystem(path);
  const remove = () => {
    process.off('exit', remove);
    spawnSync('umount', [path]);
    rmdirSync(path);
  };
  process.on('exit', remove);
  return { path, remove };
}
