import { readFileSync } from 'node:fs';
import type { CachedRecipe } from '../types.ts';
import { buildPython } from './python.ts';

/** Read when asked for: programs in virtual machines have this module in their bundle, but not the file. */
const requirements = () => readFileSync(new URL('./python-tools.txt', import.meta.url), 'utf8').trim();
/** There is no wheel of it. */
const FLAGS = ['--no-binary=antlr4-python3-runtime'];

/** Python with what data engineers use on S3: PyArrow, Polars, Delta, Iceberg, s3fs, DVC. Programs start by `python -m`. */
export const pythonTools: CachedRecipe = {
  kind: 'cached',
  version: '2026.11',
  get id() {
    return [requirements(), ...FLAGS].join('\n');
  },
  bins: { python: 'bin/python' },
  build: (dir) =>
    buildPython(dir, requirements().split('\n'), 'pyarrow, polars, deltalake, pyiceberg, s3fs, dvc', FLAGS),
};
