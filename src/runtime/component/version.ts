import { existsSync, readFileSync } from 'node:fs';

/** The version in the package.json that is nearest above this file, bundled or not. */
export function svcVersion(): string {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('..', folder);
  return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')).version;
}
