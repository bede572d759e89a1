import { existsSync, readFileSync } from 'node:fs';

/** The folder of the nearest package.json above this file, bundled or not. */
export function packageFolder(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('..', folder);
  return folder;
}

export function svcVersion(): string {
  return JSON.parse(readFileSync(new URL('package.json', packageFolder()), 'utf8')).version;
}
