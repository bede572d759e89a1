import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's own directory. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export const inRoot = (...parts) => join(ROOT, ...parts);
