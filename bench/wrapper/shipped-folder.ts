import { existsSync, symlinkSync, unlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where its interpreter is looked for. */
const MOUNTED = '/svc';

export interface ShippedFolder {
  readonly entry: readonly string[];
  remove(): void;
}

/** The self-contained folder of this machine's kind, for the length of a benchmark where a pod would have it. */
export function shippedFolder(): ShippedFolder {
  const folder = fileURLToPath(new URL(`../../build/svc-wrapper-${process.arch}/svc`, import.meta.url));
  if (!existsSync(folder))
    throw new Error('Run `npm run bundle:wrapper` first: build/ has no folder of the wrapper.');
  if (existsSync(MOUNTED)) throw new Error(`${MOUNTED} is there already: the benchmark needs that place.`);
  symlinkSync(folder, MOUNTED);
  return { entry: [`${MOUNTED}/svc-wrapper`], remove: () => unlinkSync(MOUNTED) };
}
