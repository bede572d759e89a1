import type { Check } from '../../../contract.ts';
import { objectStoreConnects } from './object-store.ts';
import { secretsServerConnects } from './secrets-server.ts';

/** What can be seen of the ways from where the command runs, with or without a cluster. */
export const fromHereChecks: readonly Check[] = [secretsServerConnects, objectStoreConnects];
