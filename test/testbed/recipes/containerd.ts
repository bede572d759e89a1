import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { goBuild } from './go-build.ts';

const MODULE = 'github.com/containerd/containerd/v2';
const VERSION = 'v2.4.2';
const PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr'];
/** Snapshotters that a node does not use. */
const TAGS = 'no_btrfs no_devmapper no_zfs';
const FLAGS = ['build', '-trimpath', '-ldflags=-s -w', `-tags=${TAGS}`];

/** Debian's 1.6 speaks a version of the CRI that kubelets since 1.36 do not take. */
export const containerd: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: [MODULE, VERSION, ...FLAGS, ...PROGRAMS].join(' '),
  bins: Object.fromEntries(PROGRAMS.map((name) => [name, name])),
  async build(dir) {
    const { Dir } = JSON.parse(await exec('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`]));
    const packages = PROGRAMS.map((name) => `./cmd/${name}`);
    await goBuild({ name: 'containerd', cwd: Dir, flags: FLAGS, output: join(dir, '/'), packages });
  },
};
