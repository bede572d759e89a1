/** Fills a folder with what the container images of svc have besides Debian: `node scripts/assemble-image.mjs FOLDER`. */
import { assembleImage } from './lib/image.mjs';
import { ROOT } from './lib/paths.mjs';

const [out, ...more] = process.argv.slice(2);
if (out === undefined || more.length > 0) {
  process.stderr.write('Usage: node scripts/assemble-image.mjs FOLDER\n');
  process.exitCode = 2;
} else {
  assembleImage(ROOT, out);
}
