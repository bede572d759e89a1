import { networkInterfaces } from 'node:os';
import { runCommand } from './run-command.ts';

/** Of the range for tests of networks (RFC 2544), on the loopback interface: it leads nowhere else. */
const address = '198.18.0.1';

/**
 * An address of this machine's loopback interface that EndpointSlices may have: 127.0.0.1 is refused there.
 * It stays, because other tests use it at the same time.
 * @throws Error where it cannot be added (needs root)
 */
export async function serviceAddress(): Promise<string> {
  if (isThere()) return address;
  const { status, stderr } = await runCommand('ip', ['address', 'add', `${address}/32`, 'dev', 'lo'], '/');
  // another test may have been quicker
  if (status !== 0 && !isThere()) throw new Error(`ip address add: ${stderr}`);
  return address;
}

function isThere(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address));
}
