import { existsSync, readFileSync } from 'node:fs';

/** The folder of the nearest package.json above this file, bundled or not. */
export function packageFolder(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('..', folder);
  return folder;
}

/** Set by the bundler of the wrapper, which may have no package.json beside it. */
declare const SVC_BUNDLED_VERSION: string | undefined;

export function svcVersion(): string {
  if (typeof SVC_BUNDLED_VERSION === 'string') return SVC_BUNDLED_VERSION;
  return JSON.parse(readFileSync(new URL('package.json', packageFolder()), 'utf8')).version;
}
