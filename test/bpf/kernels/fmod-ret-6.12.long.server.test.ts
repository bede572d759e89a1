import { auditing, denying, unprotected } from '../../plugins/agent/bypass/phases.ts';
import { WITHOUT_BPF } from '../../support/vm/types.ts';
import { runMatrix, timeoutOfFile } from './declare.ts';

export const timeout = timeoutOfFile;

runMatrix('linux-6.12', WITHOUT_BPF, [unprotected, denying(2), auditing(2)]);
