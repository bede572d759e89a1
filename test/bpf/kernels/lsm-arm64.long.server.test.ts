import { auditing, denying, unprotected } from '../../plugins/agent/bypass/phases.ts';
import { WITH_BPF } from '../../support/vm/types.ts';
import { runMatrix, timeoutOfFile } from './declare.ts';

export const timeout = timeoutOfFile;

runMatrix('linux-6.12-arm64', WITH_BPF, [unprotected, denying(1), auditing(1)]);
