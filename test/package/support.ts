import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageOf } from '../support/npm.ts';
import type { Offered } from '../support/npm-registry.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}

/**
 * Every package that users of svc install, as a registry offers it: described by what lies in node_modules, its content
 * in npm's cache, where the installation of this tree left it.
 */
export function installedPackages(): Offered[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages).flatMap(([path, { dev, integrity }]) => {
    const ours = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && integrity !== undefined;
    if (!ours) return [];
    try {
      return [{ manifest: packageOf(join(ROOT, path)), content: { integrity } }];
    } catch {
      return [];
    }
  });
}
