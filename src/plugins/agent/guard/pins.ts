import { existsSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { layoutVersion } from '../../../core/protection/layouts.ts';

const linksPrefix = 'links-';
/** A BPF file system keeps no files, but folders. */
const unloadedMark = 'unloaded';

/** Where maps and links of this layout are pinned, below the agent's folder on the BPF file system. */
export const mapFolder = (folder: string): string => join(folder, String(layoutVersion));

/** The links of one set of programs have a folder of their own, so that a new set is complete before the old one goes. */
export const linkFolder = (folder: string, generation: number): string =>
  join(mapFolder(folder), `${linksPrefix}${generation}`);

/** The maps of this layout that are pinned now. */
export function mapPins(folder: string): string[] {
  const all = list(mapFolder(folder)).filter((name) => !name.startsWith(linksPrefix));
  return all.map((name) => join(mapFolder(folder), name));
}

/** Folders of links that this or earlier agents have pinned, of any layout. */
export function linkFolders(folder: string): string[] {
  return list(folder)
    .map((layout) => join(folder, layout))
    .flatMap((layout) =>
      list(layout)
        .filter((name) => name.startsWith(linksPrefix))
        .map((name) => join(layout, name)),
    );
}

/** Those of this layout, which share its maps. */
export function ownLinkFolders(folder: string): string[] {
  return linkFolders(folder).filter((path) => path.startsWith(`${mapFolder(folder)}/`));
}

/** Unpins what lies in a folder, which detaches programs that nobody else holds. */
export function unpin(folder: string): void {
  for (const name of list(folder)) unlinkSync(join(folder, name));
  if (list(folder).length === 0) removeFolder(folder);
}

/**
 * Takes everything of every agent off this node: first the links, then the maps.
 * @returns how many pins there were
 */
export function unpinAll(folder: string): number {
  let pins = 0;
  const empty = (path: string) => {
    pins += list(path).length;
    unpin(path);
  };
  for (const path of linkFolders(folder)) empty(path);
  for (const layout of list(folder)) if (layout !== unloadedMark) empty(join(folder, layout));
  if (list(folder).length === 0) removeFolder(folder);
  return pins;
}

/** Tells an agent that runs beside that what goes is meant to go. */
export function markUnloaded(folder: string): void {
  if (existsSync(folder)) mkdirSync(join(folder, unloadedMark), { recursive: true });
}

export const isUnloaded = (folder: string): boolean => existsSync(join(folder, unloadedMark));

export const forgetUnloaded = (folder: string): void => removeFolder(join(folder, unloadedMark));

/** An agent without the privilege finds that out as it loads programs, and says so then. */
const refusals = ['EACCES', 'EPERM', 'EROFS'];

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', ...refusals].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!['ENOENT', ...refusals].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
