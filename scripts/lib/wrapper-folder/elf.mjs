import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/** Binutils and patchelf out of Debian packages that are extracted into a folder, for files of either architecture. */
export function elfTools(folder, { triplet }) {
  const usr = join(folder, 'usr');
  const libraries = [join(usr, 'lib', triplet), join(folder, 'lib', triplet)].join(':');
  const options = { env: { ...process.env, LD_LIBRARY_PATH: libraries } };
  const patchelf = (...args) => run(join(usr, 'bin', 'patchelf'), args, options);
  return {
    /** Takes symbols and debugging information away; what the loader needs stays. */
    strip: (file) => run(join(usr, 'bin', `${triplet}-strip`), ['--strip-all', file], options),
    /** Names of the libraries that a file is linked against. */
    needed: (file) => patchelf('--print-needed', file).split('\n').filter(Boolean),
    /** An RPATH of the old kind: it comes before LD_LIBRARY_PATH, which an image may set for its own libraries. */
    relocate(file, interpreter, rpath) {
      patchelf('--set-interpreter', interpreter, file);
      patchelf('--force-rpath', '--set-rpath', rpath, file);
    },
  };
}

/** What an image sets for its application, and what would make the wrapper load other code, fail, trust others or write files. */
const FOREIGN_VARIABLES = [
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_V8_COVERAGE',
  'OPENSSL_CONF',
];

/**
 * Makes a Node binary look for a variable without a name, which nobody can set, in the place of these: flags that another
 * version does not know, preloaded modules or a missing file would end the wrapper before its first line. The application
 * still gets the variables as they are.
 */
export function ignoreForeignVariables(file) {
  const content = readFileSync(file);
  for (const name of FOREIGN_VARIABLES) {
    const places = occurrences(content, name);
    if (places.length !== 1)
      throw new Error(`Found ${name} ${places.length} times in ${file}, expected it once.`);
    content.writeUInt8(0, places[0]);
  }
  writeFileSync(file, content);
}

/**
 * glibc's loader compares the first four characters behind `LD_` with a constant of the machine's code: `cmpl $"PREL",(%rcx)`, and
 * `movk w2, #"EL", lsl #16` behind one of "PR". The name of a variable has no `=`.
 */
const PRELOAD_CODE = {
  x64: { from: [0x81, 0x39, ...Buffer.from('PREL')], to: [0x81, 0x39, ...Buffer.from('PR==')] },
  arm64: { from: [0xa2, 0x88, 0xa9, 0x72], to: [0xa2, 0xa7, 0xa7, 0x72] },
};

/**
 * Makes a loader ignore LD_PRELOAD: a library for the application's C library, or for a newer one, would end the wrapper
 * before its first line. The application still gets the variable as it is.
 */
export function ignorePreloads(file, architecture) {
  const { from, to } = PRELOAD_CODE[architecture];
  const content = readFileSync(file);
  if (replaceBytes(content, Buffer.from(from), Buffer.from(to)) !== 1)
    throw new Error(`Did not find the look-up of LD_PRELOAD once in ${file}.`);
  writeFileSync(file, content);
}

/** Puts bytes in the place of as many others, wherever these are. @returns in how many places */
export function replaceBytes(content, from, to) {
  let places = 0;
  for (let at = content.indexOf(from); at >= 0; at = content.indexOf(from, at + to.length), places++)
    to.copy(content, at);
  return places;
}

/** Where the name stands as a C string; in V8's snapshot its length comes before it. */
function occurrences(content, name) {
  const needle = Buffer.from(`\0${name}\0`);
  const found = [];
  for (let at = content.indexOf(needle); at >= 0; at = content.indexOf(needle, at + 1)) {
    if (content.readUInt32LE(at - 3) !== name.length) found.push(at + 1);
  }
  return found;
}
