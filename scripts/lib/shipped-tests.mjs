import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * What starts a command or a component. Tests start these as they are shipped, by bin/ and dist/: what only the bundle
 * gets wrong, a test of the source cannot see.
 */
const STARTS =
  /^src\/(commands\/.*|main|wrapper-main|plugins\/[^/]+\/start|runtime\/component\/run-component)\.ts$/;

/** The module of a plugin that commands load, and what of it is the plugin itself. */
const PLUGIN = /^src\/plugins\/[^/]+\/index\.ts$/;
const ENTRIES =
  /\b(agent|startAgent|audit|operator|startOperator|proxy|startWorker|startClusterPrimary|validate|writePolicies|startDevelopment)\b/;

/** Each with the reason why it may; there is no other. */
const MAY = new Map([
  ['test/runtime/component/programs/program.ts', 'runs components of its own, to test what runs components'],
  ['bench/walks/from-source.ts', 'counts the source files that a request runs through'],
  ['test/plugins/agent/faults/driver/agent-program.ts', 'is bundled for emulated machines, without oclif'],
]);

/** What is imported, and from where; types are gone before anything runs. */
const IMPORT = /\b(?:import|export)\b([^;'"()]*?)\bfrom\s*'(\.[^']*)'|\bimport\(\s*'(\.[^']*)'/g;
const TYPES = /^(?:import|export) type \{[^}]*\} from '[^']*';$/gm;

/**
 * The files below test/ and bench/ that import from source what they have to start from what is shipped, and those
 * that need not be excused any more.
 * @param {string} root @returns {string[]}
 */
export function startedFromSource(root) {
  const found = ['test', 'bench']
    .flatMap((folder) => scripts(root, folder))
    .filter((file) => starts(root, file));
  const strangers = found.filter((file) => !MAY.has(file));
  const unused = [...MAY.keys()].filter((file) => existsSync(join(root, file)) && !found.includes(file));
  return [
    ...strangers.map(
      (file) => `${file} starts a command or component from src: run bin/run.js in its place.`,
    ),
    ...unused.map((file) => `${file} starts nothing from src any more: take its excuse away.`),
  ];
}

function scripts(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|js)$/.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);
}

function starts(root, file) {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(TYPES, '');
  return [...text.matchAll(IMPORT)].some(([, names, fixed, loaded]) => {
    const target = relative(root, join(root, dirname(file), fixed ?? loaded));
    return STARTS.test(target) || (PLUGIN.test(target) && (names === undefined || ENTRIES.test(names)));
  });
}
