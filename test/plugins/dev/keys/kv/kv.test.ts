import { startKeyServer } from '../../../../../src/plugins/dev/keys/key-server.ts';
import { noKeyFile } from '../../../../../src/plugins/dev/keys/transit-keys.ts';
import { quietLog } from '../../quiet-log.ts';
import { kvConformance } from './kv-conformance.ts';

kvConformance('the embedded key server', async () => {
  const server = await startKeyServer(noKeyFile, quietLog());
  return { ...server, stop: server.close };
});
