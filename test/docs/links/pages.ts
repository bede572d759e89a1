import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchorsIn, linksIn } from './markdown.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const folders = ['docs', 'manifests', 'proto', 'scripts', 'sdk', 'src', 'test'];

/** Every page of the repository, by its path from the root. */
export const pages: readonly string[] = [
  ...readdirSync(root),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((name) => name.endsWith('.md') && !name.includes('node_modules'));

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The path that a link of a page leads to, without the place in it. */
export function targetOf(page: string, link: string): string {
  const [path = ''] = link.split('#');
  return path === '' ? page : normalize(join(dirname(page), path));
}

/** Whether a link of a page leads to no file or folder of the repository, or to no heading of that page. */
export function isBroken(page: string, link: string): boolean {
  const target = targetOf(page, link);
  if (target.startsWith('..') || !existsSync(join(root, target))) return true;
  const [, anchor] = link.split('#');
  if (anchor === undefined) return false;
  return statSync(join(root, target)).isDirectory() || !anchorsIn(textOf(target)).includes(anchor);
}

/** The pages that a page leads to; of a folder that is its README, which is shown with it. */
export function pagesFrom(page: string): readonly string[] {
  return linksIn(textOf(page))
    .map((link) => targetOf(page, link).replace(/\/$/, ''))
    .map((target) => (target.endsWith('.md') ? target : join(target, 'README.md')))
    .filter((target) => pages.includes(target));
}

/** All pages that can be reached from one by links between pages, itself included. */
export function reachableFrom(page: string): ReadonlySet<string> {
  const reached = new Set([page]);
  for (const one of reached) for (const next of pagesFrom(one)) reached.add(next);
  return reached;
}
