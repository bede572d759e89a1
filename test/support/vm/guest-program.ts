import { build } from 'esbuild';

/** CommonJS packages inside an ES module still call require() for Node's own modules. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/**
 * Bundles a TypeScript file with everything that it imports into one module for the guest's Node, to be added at a
 * path that ends in `.mjs`. Only ffi-rs stays outside: native code cannot be bundled, and the guest has it.
 */
export async function guestProgram(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['ffi-rs'],
    banner: { js: REQUIRE },
    logLevel: 'warning',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return output.contents;
}
