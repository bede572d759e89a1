import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CachedRecipe } from '../types.ts';
import { goBuild } from './go-build.ts';

const MODULE = fileURLToPath(new URL('../../tools/kubernetes', import.meta.url));
export const KUBERNETES_VERSION = '1.37.1';
/** Without these the programs call themselves v0.0.0, and clients adapt to that. */
const STAMPS = [
  `k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`,
  'k8s.io/component-base/version.gitMajor=1',
  'k8s.io/component-base/version.gitMinor=37',
  `k8s.io/client-go/pkg/version.gitVersion=v${KUBERNETES_VERSION}`,
];
export const KUBERNETES_LINKING = ['-s', '-w', ...STAMPS.map((stamp) => `-X=${stamp}`)].join(' ');
const FLAGS = ['build', '-trimpath', `-ldflags=${KUBERNETES_LINKING}`];

/** etcd, kube-apiserver, kube-controller-manager and kubectl in one binary. */
export const kubernetes: CachedRecipe = {
  kind: 'cached',
  version: KUBERNETES_VERSION,
  id: ['main.go', 'go.mod', 'go.sum'].map(source).concat(FLAGS).join('\n'),
  bins: { kubernetes: 'kubernetes' },
  build: (dir) =>
    goBuild({
      name: 'kubernetes',
      cwd: MODULE,
      flags: FLAGS,
      output: join(dir, 'kubernetes'),
      packages: ['.'],
    }),
};

function source(name: string): string {
  return readFileSync(join(MODULE, name), 'utf8');
}
