import { spawnSync } from 'node:child_process';
import { inRoot } from './paths.mjs';

/** Oldest Node that runs the bundle, and oldest that runs TypeScript files as they are. */
export const FOR_BUNDLE = [22, 15];
export const FOR_TYPESCRIPT = [22, 18];

/** @param {string} version such as `v22.18.0` @param {number[]} least */
export function atLeast(version, [leastMajor, leastMinor]) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** The pinned Node of node_modules where it runs on this machine, else the Node that runs this. Throws when too old. */
export function nodeBinary(least, root = inRoot()) {
  const pinned = `${root}/node_modules/node-linux-${process.arch}/bin/node`;
  if (spawnSync(pinned, ['--version']).status === 0) return pinned;
  if (atLeast(process.version, least)) return process.execPath;
  throw new Error(
    `This needs Node ${least.join('.')} or later; here runs ${process.version}, and the pinned one is not installed.\n` +
      'Next: install a current Node from https://nodejs.org, or let npm install optional dependencies.',
  );
}
