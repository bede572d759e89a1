import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

/** Outside of any folder that is packed; `ffi-rs` is found from here. */
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/svc-test-programs/', import.meta.url));
const known = new Map<string, string>();

/**
 * One file of JavaScript with all that a TypeScript program imports, for programs that tests start again and again: from
 * its sources Node strips the types of each of them at each start, which takes five times as long as the program.
 * @returns its path; `import.meta.url` is the program's own there too
 */
export function bundledProgram(source: URL): string {
  const path = known.get(source.href) ?? keep(bundle(source));
  known.set(source.href, path);
  return path;
}

/** A program with all that it imports but ffi-rs: native code cannot be bundled. */
export const asOneModule = (entry: string) =>
  ({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['ffi-rs'],
    logLevel: 'warning',
  }) as const satisfies BuildOptions;

function bundle(source: URL): Uint8Array {
  const define = { 'import.meta.url': JSON.stringify(source.href) };
  const { outputFiles } = buildSync({ ...asOneModule(fileURLToPath(source)), define });
  return (outputFiles[0] as { contents: Uint8Array }).contents;
}

/** Under the name of its content, so that those who make it at once, and those who run it meanwhile, do not meet. */
function keep(program: Uint8Array): string {
  const path = join(KEPT, `${createHash('sha256').update(program).digest('hex').slice(0, 20)}.mjs`);
  if (existsSync(path)) return path;
  mkdirSync(KEPT, { recursive: true });
  const own = `${path}.${process.pid}`;
  writeFileSync(own, program, { mode: 0o644 });
  renameSync(own, path);
  return path;
}
