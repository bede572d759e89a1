import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const NAMESPACE = 'commonjs-exports';
const SEEN = Symbol('resolved here already');

/**
 * An esbuild plugin: `import()` of a CommonJS package gives the names that Node gives. esbuild by itself makes a chunk
 * of it that exports nothing but `default`, so that a name that works from source is undefined in the bundle.
 */
export function commonJsExports() {
  return {
    name: NAMESPACE,
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === SEEN) return undefined;
        const found = await resolve(path, { kind, importer, resolveDir, pluginData: SEEN });
        if (found.external || found.errors.length > 0 || !isCommonJs(found.path)) return found;
        return { path, namespace: NAMESPACE, pluginData: found.path };
      });
      onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ pluginData: file }) => ({
        contents: reexport(file, await importedNames(file)),
        resolveDir: '/',
      }));
    },
  };
}

/** `require`, because of what was compiled from ES modules `import` takes the default export for the whole. */
function reexport(file, names) {
  return `const whole = require(${JSON.stringify(file)});
export default whole;
export const { ${names.join(', ')} } = whole;`;
}

function isCommonJs(file) {
  if (!file.includes('/node_modules/')) return false;
  const text = readFileSync(file, 'utf8');
  return /\bexports\b/.test(text) && !/^export\b/m.test(text);
}

/** What Node finds when it imports the file. */
async function importedNames(file) {
  const names = Object.keys(await import(pathToFileURL(file).href));
  return names.filter((name) => /^[\w$]+$/.test(name) && name !== 'default' && name !== '__esModule');
}

/** The chunks of a bundle that stand for a file of a package and have lost the names that Node finds in it. */
export async function lostExports(outputs, fileOf) {
  const complaints = [];
  for (const [output, { entryPoint, exports }] of Object.entries(outputs)) {
    if (!entryPoint?.startsWith('node_modules/') || !isCommonJs(fileOf(entryPoint))) continue;
    const lost = (await importedNames(fileOf(entryPoint))).filter((name) => !exports.includes(name));
    if (lost.length > 0) complaints.push(`${output} stands for ${entryPoint} without ${lost.join(', ')}.`);
  }
  return complaints;
}
