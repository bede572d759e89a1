import { noKeyFile } from '../../../../../src/plugins/dev/keys/key-file.ts';
import { startKeyServer } from '../../../../../src/plugins/dev/keys/key-server.ts';
import { quietLog } from '../../quiet-log.ts';
import { kvConformance } from './kv-conformance.ts';

kvConformance('the embedded key server', async () => {
  const server = await startKeyServer(noKeyFile, quietLog());
  return { ...server, stop: server.close };
});
