import type { Logger } from '../../runtime/logging/logger.ts';
import { type DataFolder, takeDataFolder } from './data-folder.ts';
import { keyFile, noKeyFile } from './keys/key-file.ts';
import { type KeyServer, startKeyServer } from './keys/key-server.ts';
import { setUpTransit } from './keys/set-up.ts';
import { setUpSecrets } from './keys/set-up-secrets.ts';
import { type ObjectStore, startObjectStore } from './store/object-store.ts';
import { folderCatalog, memoryCatalog } from './store/open-catalog.ts';
import { exampleSecrets } from './wrapped/example-secrets.ts';
import type { SecretsSource } from './wrapped/secrets-source.ts';

/** The two servers that a proxy needs behind it, and a wrapper one of them. */
export interface Servers {
  readonly keyServer: KeyServer;
  readonly store: ObjectStore;
  /** May update the two transit paths of the key `svc` and nothing else. */
  readonly proxyToken: string;
  /** Examples, made at random. */
  readonly secrets: SecretsSource;
  /** Absolute path; undefined: everything is in memory. */
  readonly dataFolder: string | undefined;
  close(): Promise<void>;
}

/** Starts key server and object store, and sets up transit and secrets. @throws SvcError, VaultError */
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
    const secrets = await setUpExamples(keyServer);
    const store = await startObjectStore(catalogOf(folder), log);
    started.push(store);
    return { keyServer, store, proxyToken, secrets, dataFolder: folder?.path, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const catalogOf = (folder: DataFolder | undefined) =>
  folder ? folderCatalog(folder.storeFolder) : memoryCatalog();

async function setUpExamples({ url, rootToken }: KeyServer): Promise<SecretsSource> {
  const secrets = exampleSecrets();
  const tokens = await setUpSecrets({ url, rootToken, secrets });
  return { keyServer: url, secrets, tokens };
}
