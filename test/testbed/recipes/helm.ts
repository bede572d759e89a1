import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

const MODULE = fileURLToPath(new URL('../../tools/helm', import.meta.url));
const VERSION = '3.22.0';
/** Without these it says v3.22 of an unknown commit, and renders charts for Kubernetes 1.20. */
const STAMPS = [
  `helm.sh/helm/v3/internal/version.version=v${VERSION}`,
  'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1',
  'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37',
];
const LINKING = ['-s', '-w', ...STAMPS.map((stamp) => `-X=${stamp}`)].join(' ');
const FLAGS = ['build', '-trimpath', `-ldflags=${LINKING}`];
const ENVIRONMENT = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };

/** Helm's own command: a minute to build where Kubernetes is built already, whose packages it shares. */
export const helm: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: ['go.mod', 'go.sum'].map(source).concat(FLAGS).join('\n'),
  bins: { helm: 'helm' },
  async build(dir) {
    const command = ['-n', '19', 'go', ...FLAGS, '-o', join(dir, 'helm'), 'helm.sh/helm/v3/cmd/helm'];
    await exec('nice', command, { cwd: MODULE, env: { ...process.env, ...ENVIRONMENT } });
  },
};

function source(name: string): string {
  return readFileSync(join(MODULE, name), 'utf8');
}
