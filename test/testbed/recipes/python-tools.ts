import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { createVenv, pipInstall } from './python.ts';

const REQUIREMENTS = readFileSync(new URL('./python-tools.txt', import.meta.url), 'utf8').trim();
/** There is no wheel of it. */
const FLAGS = ['--no-binary=antlr4-python3-runtime'];

/** Python with what data engineers use on S3: PyArrow, Polars, Delta, Iceberg, s3fs, DVC. Programs start by `python -m`. */
export const pythonTools: CachedRecipe = {
  kind: 'cached',
  version: '2026.11',
  id: [REQUIREMENTS, ...FLAGS].join('\n'),
  bins: { python: 'bin/python' },
  async build(dir) {
    await createVenv(dir);
    await pipInstall(dir, REQUIREMENTS.split('\n'), FLAGS);
    await exec(join(dir, 'bin', 'python'), ['-c', 'import pyarrow, polars, deltalake, pyiceberg, s3fs, dvc']);
  },
};
