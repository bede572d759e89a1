import type { CachedRecipe } from '../types.ts';
import { buildPython } from './python.ts';

const CRYPTOGRAPHY = '50.0.2';
const REQUIREMENTS = [`cryptography==${CRYPTOGRAPHY}`, 'cffi==2.1.1', 'pycparser==3.12'];

/** Python with the one package that `docs/format/read.py` takes. */
export const cryptography: CachedRecipe = {
  kind: 'cached',
  version: CRYPTOGRAPHY,
  id: REQUIREMENTS.join('\n'),
  bins: { python: 'bin/python' },
  build: (dir) => buildPython(dir, REQUIREMENTS, 'cryptography.hazmat.primitives.ciphers.aead'),
};
