import { volumeNames } from './names.ts';
import type { Shared } from './shared.ts';

/** The folder of the node agent's socket, at the same path as on the node. The agent makes the socket anew when it starts. */
export function agentFolder(socket: string): Shared {
  const folder = socket.slice(0, socket.lastIndexOf('/')) || '/';
  return {
    volume: { name: volumeNames.agent, hostPath: { path: folder, type: 'DirectoryOrCreate' } },
    mount: { name: volumeNames.agent, mountPath: folder, readOnly: true },
  };
}
