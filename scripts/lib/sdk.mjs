import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const OUTPUT = 'dist/sdk';
/** The modules that its public types are in. */
const TYPED = ['index', 'open', 'store'];

/** What `svc/secrets` gives, one file without any of the commands, its types, and the demo server. */
export async function bundleSdk(root, external) {
  const { metafile } = await build({
    entryPoints: { index: join(root, 'src/sdk/index.ts'), demo: join(root, 'src/sdk/demo.ts') },
    outdir: join(root, OUTPUT),
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external,
    metafile: true,
    logLevel: 'warning',
  });
  const types = await Promise.all(TYPED.map((name) => declare(root, name)));
  return { metafile: { outputs: { ...metafile.outputs, ...Object.fromEntries(types) } } };
}

async function declare(root, name) {
  const { default: typescript } = await import('typescript');
  const source = readFileSync(join(root, 'src/sdk', `${name}.ts`), 'utf8');
  const { outputText } = typescript.transpileDeclaration(source, { fileName: `${name}.ts` });
  const text = outputText.replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'");
  const path = `${OUTPUT}/${name}.d.ts`;
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return [path, { bytes: Buffer.byteLength(text), inputs: {}, imports: [], exports: [] }];
}
