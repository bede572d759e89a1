/** What the program tells by its exit status. */
export const probeStatus = { reached: 10, refused: 11, silent: 12 } as const;

/**
 * For `node -e`: connects to the host and port of its arguments, and ends with what came of it. Whoever refuses a
 * connection has been reached, too.
 */
export const probeProgram = `
const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port: Number(port) });
socket.setTimeout(5000);
socket.once('connect', () => process.exit(${probeStatus.reached}));
socket.once('timeout', () => process.exit(${probeStatus.silent}));
socket.once('error', ({ code }) => process.exit(code === 'ECONNREFUSED' ? ${probeStatus.refused} : ${probeStatus.silent}));
`.trim();
