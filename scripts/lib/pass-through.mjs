import { spawn } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a command in the foreground and resolves with its status. Signals go on to it; a terminal
 * sends Ctrl-C to the whole group by itself, and a second one would cut the child's shutdown short.
 * Where the child ended by a signal, this process ends by the same one.
 * @returns {Promise<number>}
 */
export function passThrough(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  const forward = (signal) => {
    if (!(process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of SIGNALS) process.off(name, forward);
      if (signal) process.kill(process.pid, signal);
      else resolve(code ?? 1);
    });
  });
}
