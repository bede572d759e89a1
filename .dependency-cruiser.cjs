/**
 * The import rules of ARCHITECTURE.md: commands → plugins → objects, cluster → keyserver → runtime.
 * test/scripts/imports.test.ts breaks each.
 */

/** Importing one of these at the top of a command or of a shared module costs every command tens of milliseconds. */
const HEAVY = [
  '@aws-sdk/',
  '@kubernetes/',
  '@grpc/',
  '@oclif/table',
  'node-vault',
  'undici',
  'zod',
  'prom-client',
  'pino',
].map((name) => `node_modules/${name}`);

/** Packages that the build puts into dist/: users of the package need not install them, so they are devDependencies. */
const BUNDLED = [
  '@aws-sdk/',
  '@grpc/',
  '@kubernetes/',
  '@smithy/',
  'cli-table3',
  'hash-wasm',
  'ipaddr\\.js',
  'node-forge',
  'node-vault',
  'prom-client',
  'rfc6902',
  'yaml',
].map((name) => `node_modules/${name}`);

const src = (room) => `^src/${room}/`;

/** Folders whose files are pure. */
const RULES = [
  'objects/format',
  'objects/s3',
  'cluster/injection',
  'cluster/score',
  'runtime/bounds',
  'runtime/environment',
  'runtime/protocols',
].map(src);

function forbid(name, comment, from, to) {
  return { name, comment, severity: 'error', from, to };
}

module.exports = {
  forbidden: [
    forbid('no-cycles', 'A cycle hides which of two modules is the lower one.', {}, { circular: true }),
    forbid(
      'no-unresolved',
      'The import names a file or package that is not there.',
      {},
      { couldNotResolve: true },
    ),
    forbid(
      'no-orphans',
      'Nothing imports this module and it imports nothing: remove it.',
      { orphan: true, path: '^src/', pathNot: ['\\.d\\.ts$', '^src/main\\.ts$', src('commands')] },
      {},
    ),
    forbid(
      'runtime-below-all',
      'src/runtime is the platform: it knows none of what stands on it.',
      { path: src('runtime') },
      { path: '^src/(?!runtime/)' },
    ),
    forbid(
      'keyserver-on-runtime',
      'src/keyserver knows neither objects, clusters, plugins nor commands.',
      { path: src('keyserver') },
      { path: '^src/(?!(runtime|keyserver)/)' },
    ),
    forbid(
      'objects-on-keyserver',
      'src/objects knows neither clusters, plugins nor commands.',
      { path: src('objects') },
      { path: '^src/(?!(runtime|keyserver|objects)/)' },
    ),
    forbid(
      'cluster-on-keyserver',
      'src/cluster knows neither objects, plugins nor commands.',
      { path: src('cluster') },
      { path: '^src/(?!(runtime|keyserver|cluster)/)' },
    ),
    forbid(
      'rules-do-no-io',
      'Formats, protocols, policies and bounds compute; files, sockets, processes and clocks belong beside them.',
      { path: RULES },
      {
        dependencyTypes: ['core'],
        dependencyTypesNot: ['type-only'],
        path: '^(node:)?(fs|net|http|https|http2|tls|dns|dgram|child_process|cluster|worker_threads|os|timers)(/promises)?$',
      },
    ),
    forbid(
      'plugins-below-commands',
      'src/plugins knows no commands.',
      { path: src('plugins') },
      { path: '^src/commands/|^src/main\\.ts$' },
    ),
    forbid(
      'public-api-above-runtime',
      'What plugins import offers parts of runtime; none of ours imports it.',
      { path: src('plugin-api') },
      { path: '^src/(plugins|commands)/|^src/main\\.ts$' },
    ),
    forbid(
      'public-api-is-for-others',
      'svc itself imports the modules that src/plugin-api takes together.',
      { path: '^src/', pathNot: src('plugin-api') },
      { path: src('plugin-api') },
    ),
    forbid(
      'no-plugin-to-plugin',
      'A component imports no other component; what they share belongs to objects, cluster, keyserver or runtime.',
      { path: '^src/plugins/([^/]+)/' },
      { path: '^src/plugins/', pathNot: '^src/plugins/$1/' },
    ),
    forbid(
      'commands-load-plugins-late',
      'A command imports a component by import() only; its settings.ts is light and may be imported.',
      { path: [src('commands'), '^src/main\\.ts$'] },
      {
        path: '^src/plugins/',
        pathNot: '^src/plugins/.+/settings\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    ),
    forbid(
      'commands-load-heavy-packages-late',
      'Nothing that a command reaches without import() may be a heavy package.',
      {
        path: [
          src('commands'),
          '^src/main\\.ts$',
          src('plugin-api'),
          src('runtime/cli'),
          '^src/plugins/.+/settings\\.ts$',
        ],
      },
      { path: HEAVY, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    forbid(
      'runtime-indexes-are-light',
      'An index of src/runtime imports heavy packages by import() only.',
      { path: ['^src/runtime/index\\.ts$', '^src/runtime/[^/]+/index\\.ts$'] },
      { path: HEAVY, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    forbid(
      'native-calls-in-one-place',
      'Only src/runtime/native imports ffi-rs.',
      { pathNot: src('runtime/native') },
      { path: '^(node_modules/)?ffi-rs' },
    ),
    forbid(
      'wrapper-without-child-process',
      'svc-init starts programs. child_process takes 10 ms to load, and its children would get no protection.',
      { path: [src('plugins/wrapper'), src('runtime/native'), '^src/wrapper-main\\.ts$'] },
      { path: '^(node:)?child_process$', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'vault-client-in-one-place',
      'Only src/keyserver imports node-vault.',
      { pathNot: src('keyserver') },
      { path: '^(node_modules/)?node-vault' },
    ),
    forbid(
      'src-without-test',
      'src imports nothing of test, scripts or bench.',
      { path: '^src/' },
      { path: '^(test|scripts|bench)/' },
    ),
    forbid(
      'src-without-dev-packages',
      'What src imports is a dependency of the product, or bundled into it.',
      { path: '^src/' },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: BUNDLED,
      },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    extraExtensionsToScan: [],
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'require', 'types'],
    },
  },
};
