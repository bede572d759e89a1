import type { Check } from '../../contract.ts';
import { nodeArchitectures } from './node-architectures.ts';
import { nodeKernels } from './node-kernels.ts';
import { nodeTypes } from './node-types.ts';
import { serverVersion } from './server-version.ts';

export const clusterChecks: readonly Check[] = [serverVersion, nodeKernels, nodeTypes, nodeArchitectures];
