import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptDownload } from '../apt.ts';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

const PACKAGE = 'prometheus';
/** Debian 12's; other releases of Debian have their own. */
const VERSION = '2.42.0+ds-5+deb12u1';

/** Out of the package: installing it would start a server. */
export const promtool: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: `${PACKAGE}=${VERSION}: usr/bin/promtool`,
  bins: { promtool: 'promtool' },
  async build(dir) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-promtool-'));
    try {
      const wanted = `${PACKAGE}=${VERSION}`;
      const file = await aptDownload(wanted, folder).catch(() => aptDownload(PACKAGE, folder));
      await exec('dpkg-deb', ['-x', file, join(folder, 'root')]);
      await cp(join(folder, 'root/usr/bin/promtool'), join(dir, 'promtool'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
