import { ownGoTool } from './own-go-tool.ts';

const VERSION = '3.22.0';
/** Without these it says v3.22 of an unknown commit, and renders charts for Kubernetes 1.20. */
const STAMPS = [
  `helm.sh/helm/v3/internal/version.version=v${VERSION}`,
  'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1',
  'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37',
];
const LINKING = ['-s', '-w', ...STAMPS.map((stamp) => `-X=${stamp}`)].join(' ');

/** Helm's own command: a minute to build where Kubernetes is built already, whose packages it shares. */
export const helm = ownGoTool('helm', VERSION, LINKING, 'helm.sh/helm/v3/cmd/helm');
