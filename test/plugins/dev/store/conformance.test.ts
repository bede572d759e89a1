import { folderCatalog, memoryCatalog } from '../../../../src/plugins/dev/servers.ts';
import { startObjectStore } from '../../../../src/plugins/dev/store/object-store.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { quietLog } from '../quiet-log.ts';
import { storeConformance } from './store-conformance.ts';

storeConformance('the development store in memory', async () => {
  const store = await startObjectStore(memoryCatalog(), quietLog());
  return { ...store, endpoint: store.url, region: 'us-east-1', stop: store.close };
});

storeConformance('the development store in a folder', async () => {
  const folder = temporaryFolder('dev-store');
  const store = await startObjectStore(folderCatalog(folder.path), quietLog());
  const stop = async () => {
    await store.close();
    await folder.remove();
  };
  return { ...store, endpoint: store.url, region: 'us-east-1', stop };
});
