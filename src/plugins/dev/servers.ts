import type { Logger } from '../../runtime/logging/logger.ts';
import { type DataFolder, takeDataFolder } from './data-folder.ts';
import { keyFile, noKeyFile } from './keys/key-file.ts';
import { type KeyServer, startKeyServer } from './keys/key-server.ts';
import { setUpTransit } from './keys/set-up.ts';
import { type ObjectStore, startObjectStore } from './store/object-store.ts';
import { folderCatalog, memoryCatalog } from './store/open-catalog.ts';

/** The two servers that a proxy needs behind it. */
export interface Servers {
  readonly keyServer: KeyServer;
  readonly store: ObjectStore;
  /** May update the two transit paths of the key `svc` and nothing else. */
  readonly proxyToken: string;
  /** Absolute path; undefined: everything is in memory. */
  readonly dataFolder: string | undefined;
  close(): Promise<void>;
}

/** Starts key server and object store, and sets up transit. @throws SvcError, VaultError */
export async function startServers(dataFolder: string | undefined, log: Logger): Promise<Servers> {
  const folder = dataFolder === undefined ? undefined : takeDataFolder(dataFolder);
  const started: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((server) => server.close()));
    folder?.release();
  };
  try {
    const keyServer = await startKeyServer(folder ? keyFile(folder.keyFile) : noKeyFile, log);
    started.push(keyServer);
    const { url, rootToken } = keyServer;
    const proxyToken = await setUpTransit({ url, rootToken, mount: 'transit', keyName: 'svc' });
    const store = await startObjectStore(catalogOf(folder), log);
    started.push(store);
    return { keyServer, store, proxyToken, dataFolder: folder?.path, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const catalogOf = (folder: DataFolder | undefined) =>
  folder ? folderCatalog(folder.storeFolder) : memoryCatalog();
