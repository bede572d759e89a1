/** Writes the software bill of materials of the npm package (CycloneDX, JSON): `node scripts/sbom.mjs [FILE]`. */
import { writeFileSync } from 'node:fs';
import { ROOT } from './lib/paths.mjs';
import { createSbom } from './lib/sbom.mjs';
import { readOutputs } from './lib/weight.mjs';

const [file] = process.argv.slice(2);
const text = `${JSON.stringify(createSbom(ROOT, readOutputs(ROOT)), undefined, 2)}\n`;
if (file === undefined) process.stdout.write(text);
else writeFileSync(file, text);
