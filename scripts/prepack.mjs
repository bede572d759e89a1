/** `npm pack` and `npm publish` call this: a package lacks nothing that a machine without compilers could not build. */
import { hasBpfObjects } from './lib/bpf.mjs';
import { hasInit } from './lib/init.mjs';
import { ROOT } from './lib/paths.mjs';

const left = [
  ...(hasBpfObjects(ROOT) ? [] : ['the BPF programs of the node agent (clang-19, llvm-19, libbpf-dev)']),
  ...(hasInit(ROOT) ? [] : ['svc-init of the wrapper (clang-19 or gcc, with a static C library)']),
];

if (left.length > 0) {
  process.stderr.write(
    [
      'The package would lack what this machine cannot compile:',
      ...left.map((what) => `  ${what}`),
      'Next: install the packages in brackets, and pack again. To pack without, npm pack --ignore-scripts.',
      '',
    ].join('\n'),
  );
  process.exitCode = 1;
}
