import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the package says about the software that is bundled into it; licences ask for their text to go along. */
export const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt';

/**
 * @typedef {{ name: string, version: string, licence: string, folder: string }} Package folder: below the root
 */

/**
 * The packages of which parts are in a bundle, sorted.
 * @param {string} root
 * @param {Record<string, { inputs: object }>} outputs of esbuild @returns {Package[]}
 */
export function bundledPackages(root, outputs) {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = inputs.map((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean);
  return [...new Set(folders)].sort().map((folder) => readPackage(root, folder));
}

/** @returns {Package} @throws {Error} when it names no licence */
export function readPackage(root, folder) {
  const { name, version, license, licenses } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  const named = [license ?? licenses ?? []].flat().map((one) => one.type ?? one);
  const licence = named.join(' OR ');
  if (!licence) throw new Error(`${folder} names no licence`);
  return { name, version, licence, folder };
}

/**
 * Writes the notices and returns their path; the same packages make the same text.
 * @param {{ title: string, text: string }[]} others that are no packages of npm
 */
export function writeNotices(root, packages, others) {
  const texts = packages.map(({ name, version, licence, folder }) => {
    const text = licenceFiles(join(root, folder)).map((file) => readFileSync(file, 'utf8').trim());
    return [`${name} ${version} (${licence})`, ...text].join('\n\n');
  });
  texts.push(...others.map(({ title, text }) => `${title}\n\n${text}`));
  const head = 'dist/ holds parts of the following packages, under their own licences.';
  writeFileSync(join(root, NOTICES), `${[head, ...texts].join(`\n\n${'-'.repeat(78)}\n\n`)}\n`);
  return NOTICES;
}

function licenceFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i.test(name))
    .sort()
    .map((name) => join(folder, name));
}
