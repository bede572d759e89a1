import { longSuites } from './support/long-suites.ts';

/** The verifier and the attack paths on kernels and processors beside those of `npm test`. */
export const agentKernels = longSuites({
  name: 'agent-kernels',
  summary: 'the BPF programs on Linux 6.12 and on arm64, in virtual machines',
  folders: ['bpf/kernels/'],
});
