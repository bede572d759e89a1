import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 250;

/**
 * Runs `work` while no other process on this machine runs any with the same name.
 * The lock is a socket in Linux's abstract namespace: the kernel takes it back when its holder dies,
 * so there is no stale lock to find and remove.
 * @param onWait called once when somebody else holds the lock
 */
export async function withLock<T>(name: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  const path = `\0svc-testbed-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  let holder = await take(path);
  if (!holder) onWait?.();
  while (!holder) {
    await sleep(POLL_MS);
    holder = await take(path);
  }
  try {
    return await work();
  } finally {
    holder.close();
    await once(holder, 'close');
  }
}

async function take(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ path });
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
