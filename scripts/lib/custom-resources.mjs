import { join } from 'node:path';
import { build } from 'esbuild';
import { stringify } from 'yaml';

const SOURCE = 'src/cluster/resources/definitions.ts';
export const CRD_FOLDER = 'manifests/chart/templates/crds';

const HEAD = `# Made from src/cluster/resources by \`npm run build -- --update\`: change it there.\n`;

/**
 * The definitions of the custom resources as templates of the chart.
 * @returns {Promise<[name: string, text: string][]>}
 */
export async function renderCustomResources(root) {
  const { definitions } = await load(join(root, SOURCE));
  return Object.entries(definitions).map(([plural, definition]) => [
    `${CRD_FOLDER}/${plural}.yaml`,
    HEAD + asTemplate(stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false })),
  ]);
}

/** Bundled in memory: not every Node that builds runs TypeScript. */
async function load(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    logLevel: 'silent',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Helm would read what stands between double braces. */
function asTemplate(text) {
  if (text.includes('{{')) throw new Error('A custom resource holds {{, which Helm would take for its own');
  return text;
}
