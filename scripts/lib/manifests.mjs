import { execFileSync } from 'node:child_process';
import { inRoot } from './paths.mjs';

export const PLAIN = 'manifests/plain/svc.yaml';

const HEADER = `# Everything of svc for clusters without Helm, rendered from manifests/chart by scripts/manifests.mjs: do not edit.
# With values of your own: node scripts/manifests.mjs --set registry=registry.example,operator.vaultAddress=https://…
`;

/**
 * The chart as plain YAML: its namespace as well, no hooks, and no labels by which Helm would take the objects for its own.
 * @param {string} helm the command @param {readonly string[]} options further ones of `helm template`
 */
export function renderPlain(helm, options = []) {
  const args = ['template', 'svc', inRoot('manifests', 'chart'), '--namespace=svc-system', '--no-hooks'];
  const text = execFileSync(helm, [...args, '--set=createNamespace=true', ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return (
    HEADER +
    text
      .replace(/^ *helm\.sh\/.*\n/gm, '')
      .replace(/(app\.kubernetes\.io\/managed-by): Helm$/gm, '$1: svc-manifests')
  );
}
