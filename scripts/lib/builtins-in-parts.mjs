const NAMESPACE = 'builtins-in-parts';
const BUILTIN = 'node:http';

/**
 * An esbuild plugin: `import { … } from 'node:http'` takes what is named and nothing else. By itself Node reads every export
 * of a module that is imported so, and `WebSocket` among those of `node:http` loads undici: 12 MiB of resident memory
 * and 30 ms of processor time in a process that loads nothing else.
 */
export function builtinsInParts() {
  return {
    name: NAMESPACE,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${BUILTIN}$`) }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: NAMESPACE } : undefined,
      );
      onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      }));
    },
  };
}
