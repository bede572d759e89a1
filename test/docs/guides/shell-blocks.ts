import { readFileSync } from 'node:fs';
import { type Block, blocksIn } from './console.ts';

/** A block of the language `sh`, whose output a page does not show. */
interface ShellBlock {
  readonly name: string;
  /** How it begins. */
  readonly begins: string;
  /** The tests that type it, or why none does. */
  readonly typed: readonly string[] | string;
}

/** Every such block of pages about a cluster, in the order of the page. */
export const SHELL_BLOCKS: Readonly<Record<string, readonly ShellBlock[]>> = {
  'INSTALL.md': [
    {
      ...{ name: 'images', begins: 'for target in operator agent proxy wrapper; do' },
      typed: 'It needs Docker and a registry of the reader. test/manifests/image assembles these images.',
    },
    {
      ...{ name: 'install', begins: 'helm install svc manifests/chart' },
      typed: ['test/conformance/node/install.ts', 'test/docs/install.long.server.test.ts'],
    },
    {
      ...{ name: 'ready', begins: 'kubectl --namespace svc-system rollout status' },
      typed: ['test/conformance/node/validate.ts'],
    },
    {
      ...{ name: 'without-helm', begins: 'node scripts/manifests.mjs' },
      typed: ['test/docs/install.long.server.test.ts'],
    },
    {
      ...{ name: 'uninstall', begins: 'helm uninstall svc' },
      typed: ['test/conformance/node/uninstall.ts'],
    },
    {
      ...{ name: 'leftovers', begins: 'kubectl delete networkpolicy,configmap' },
      typed: ['test/conformance/node/uninstall.ts', 'test/docs/install.long.server.test.ts'],
    },
  ],
  'GETTING-STARTED.md': [
    {
      ...{ name: 'images', begins: 'for target in operator agent proxy wrapper; do' },
      typed: 'It is the block of INSTALL.md.',
    },
    {
      ...{ name: 'rollout', begins: 'kubectl --namespace svc-system rollout status' },
      typed: 'It is the beginning of the block of INSTALL.md that the test of a whole node types.',
    },
    {
      ...{ name: 'log', begins: 'kubectl --namespace shop logs' },
      typed: 'test/conformance/node/workloads.ts reads the logs of such pods.',
    },
    {
      ...{ name: 'validate', begins: 'svc validate --wait 5m' },
      typed:
        'Its first line is one of INSTALL.md, which the test of a whole node types; the second one is run on that node.',
    },
  ],
};

/** The page, from the part that is about a cluster. */
export function clusterPart(page: string): string {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const start = text.indexOf('\n## In a cluster\n');
  return start < 0 ? text : text.slice(start);
}

/** @throws Error where the page has another block in that place */
export function shellBlock(page: string, name: string): Block {
  const at = SHELL_BLOCKS[page]?.findIndex((one) => one.name === name) ?? -1;
  const block = blocksIn(clusterPart(page), 'sh')[at];
  const begins = SHELL_BLOCKS[page]?.[at]?.begins;
  if (begins === undefined || !block?.text.startsWith(begins))
    throw new Error(`${page} has no block ${name}: ${block?.text}`);
  return block;
}
