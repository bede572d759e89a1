import { readFileSync } from 'node:fs';
import { packageFolder } from './package-folder.ts';

export function svcVersion(): string {
  return JSON.parse(readFileSync(new URL('package.json', packageFolder()), 'utf8')).version;
}
