import { build } from 'esbuild';
import { asOneModule } from '../bundled-program.ts';

/** CommonJS packages inside an ES module still call require() for Node's own modules. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/**
 * A command for Node in the guest. Machine code that V8 makes has to be translated once more for each program by the
 * emulator, and takes longer to make than it saves: a start of the agent costs two thirds without. `fetch` needs it.
 * What it starts with `process.execArgv` goes on without.
 */
export const GUEST_NODE = 'node --jitless --single-threaded';

/**
 * Bundles a TypeScript file with everything that it imports into one module for the guest's Node, to be added at a
 * path that ends in `.mjs`. Only ffi-rs stays outside: native code cannot be bundled, and the guest has it.
 */
export async function guestProgram(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...asOneModule(entry), banner: { js: REQUIRE } });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return output.contents;
}
