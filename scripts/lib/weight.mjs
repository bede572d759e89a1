import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const METAFILE = 'dist/.metafile.json';

const HEAVY =
  /node_modules\/(@aws-sdk\/|@kubernetes\/|@grpc\/|@oclif\/table|node-vault|undici|zod|prom-client|pino)/;

/** The source files that an output of the bundle loads at once, import() left aside. */
function loadedAtOnce(outputs, name, seen = new Set()) {
  if (seen.has(name)) return [];
  seen.add(name);
  const { inputs, imports } = outputs[name];
  const below = imports.filter(({ kind, external }) => kind !== 'dynamic-import' && !external);
  return [...Object.keys(inputs), ...below.flatMap(({ path }) => loadedAtOnce(outputs, path, seen))];
}

/** Heavy packages that a command, the entry itself or what plugins import loads before it knows whether it needs them. */
export function heavyAtStart(outputs) {
  const entries = Object.keys(outputs).filter((name) =>
    /^dist\/(main|plugin-api\/index|commands\/.*)\.js$/.test(name),
  );
  return entries.flatMap((entry) => {
    const heavy = loadedAtOnce(outputs, entry).filter((input) => HEAVY.test(input));
    return heavy.length > 0
      ? [`${entry} loads ${heavy[0]} and ${heavy.length - 1} more heavy files at start.`]
      : [];
  });
}

/** Files that import `node:http` as it is, which loads all that it exports (`builtins-in-parts.mjs`). */
export function wholeHttp(outputs) {
  return Object.entries(outputs)
    .filter(([name]) => /^dist\/(main|plugin-api\/index|commands\/.*|chunks\/.*)\.js$/.test(name))
    .filter(([, { imports }]) =>
      imports.some(({ path, kind }) => path === 'node:http' && kind === 'import-statement'),
    )
    .map(([name]) => `${name} imports node:http whole.`);
}

const WRAPPER = 'dist/wrapper.cjs';
/**
 * 25 KiB of it are for a wrapper that leaves: the hand-over to svc-init, and its workers, which nobody reads. 3 KiB are for
 * listening without Node's server, which would take 7 ms of each start, and 3 for finding what the application could
 * replace of what workers load. 16 are names that steer programs: text, half a millisecond at a start.
 * 5 bound what servers and agents send before it is parsed. 3 are for waiting until what refuses a start has passed, and
 * for trusting certificates as other tools do.
 */
const WRAPPER_BYTES = 262 * 1024;
/** Each costs the wrapper milliseconds or memory; child processes would take the exit codes that it waits for. */
const NOT_IN_WRAPPER = ['child_process', 'cluster', 'worker_threads', 'http', 'https', 'inspector', 'vm'];

/** What the wrapper's bundle has that would make its start slow, or that must not be in it. */
export function unfitForWrapper(outputs) {
  const { bytes, inputs, imports } = outputs[WRAPPER];
  const packages = Object.keys(inputs)
    .map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
    .filter((name) => name !== undefined);
  const modules = imports
    .map(({ path }) => path.replace(/^node:/, ''))
    .filter((name) => NOT_IN_WRAPPER.includes(name.split('/')[0]));
  const complaints = [...new Set([...packages, ...modules])].map((name) => `${WRAPPER} holds ${name}.`);
  const size = bytes > WRAPPER_BYTES ? [`${WRAPPER} has ${bytes} bytes, of ${WRAPPER_BYTES} at most.`] : [];
  return [...complaints, ...size];
}

export function readOutputs(root) {
  return JSON.parse(readFileSync(join(root, METAFILE), 'utf8')).outputs;
}
