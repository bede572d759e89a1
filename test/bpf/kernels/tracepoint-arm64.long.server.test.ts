import { killing, unprotected, watching } from '../../plugins/agent/bypass/phases.ts';
import { WITH_BPF } from '../../support/vm/types.ts';
import { runMatrix, timeoutOfFile } from './declare.ts';

export const timeout = timeoutOfFile;

runMatrix('linux-6.1-arm64', WITH_BPF, [unprotected, watching, killing]);
