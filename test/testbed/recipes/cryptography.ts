import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { createVenv, pipInstall } from './python.ts';

const CRYPTOGRAPHY = '50.0.2';
const REQUIREMENTS = [`cryptography==${CRYPTOGRAPHY}`, 'cffi==2.1.1', 'pycparser==3.12'];

/** Python with the one package that `docs/format/read.py` takes. */
export const cryptography: CachedRecipe = {
  kind: 'cached',
  version: CRYPTOGRAPHY,
  id: REQUIREMENTS.join('\n'),
  bins: { python: 'bin/python' },
  async build(dir) {
    await createVenv(dir);
    await pipInstall(dir, REQUIREMENTS);
    await exec(join(dir, 'bin', 'python'), ['-c', 'from cryptography.hazmat.primitives.ciphers import aead']);
  },
};
