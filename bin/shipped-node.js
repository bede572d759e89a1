import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runsUnder } from './require-node.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGWINCH'];

/**
 * Under a Node that is too old, runs the program with the one that is installed beside it, hands on signals, and ends as it
 * ends. Returns where nothing is to be done or no other Node is there. Not for the wrapper: this process would keep the
 * token in its environment for as long as the application runs.
 * @param {string} script path of the program, whose arguments are those of this process
 * @returns {Promise<void>}
 */
export async function withShippedNode(script) {
  const args = process.argv.slice(2);
  if (runsUnder(process.versions.node) || (args[0] === 'run' && args[1] === 'wrapper')) return;
  const node = shippedNode();
  if (node === undefined) return;
  const child = spawn(node, [script, ...args], { stdio: 'inherit' });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', (code, signal) => {
      if (signal === null) process.exit(code ?? 1);
      for (const each of SIGNALS) process.removeAllListeners(each);
      process.kill(process.pid, signal);
    });
  });
}

/** Undefined where npm left it out, as on other platforms and with --omit=optional. */
function shippedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`);
    const node = join(dirname(manifest), 'bin', 'node');
    accessSync(node, constants.X_OK);
    return node;
  } catch {
    return undefined;
  }
}
