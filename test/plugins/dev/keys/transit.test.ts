import { startKeyServer } from '../../../../src/plugins/dev/keys/key-server.ts';
import { noKeyFile } from '../../../../src/plugins/dev/keys/transit-keys.ts';
import { quietLog } from '../quiet-log.ts';
import { transitConformance } from './transit-conformance.ts';

transitConformance('the embedded key server', async () => {
  const server = await startKeyServer(noKeyFile, quietLog());
  return { ...server, stop: server.close };
});
