/** Files with a mark that take in nothing from outside, from the root of the repository, by the reason. */
export const exceptions: Readonly<Record<string, readonly string[]>> = {
  'reads what the same program wrote or ships': [
    'src/plugins/agent/guard/program-set.ts',
    'src/plugins/audit/bucket/progress-file.ts',
    'src/plugins/proxy/decrypt/journal.ts',
    'src/plugins/wrapper/install-folder.ts',
    'src/runtime/component/package-folder.ts',
    'src/runtime/logging/create-logger.ts',
  ],
  'makes something of texts and keys of its own': [
    'src/core/envelope/hpke.ts',
    'src/core/settings/setting.ts',
    'src/plugins/netpol/index.ts',
    'src/plugins/proxy/decrypt/file-name.ts',
    'src/runtime/logging/secrets.ts',
  ],
  'has a function of that name': ['src/plugins/proxy/multipart/part-keys.ts', 'src/runtime/memory.ts'],
  'serves one developer on loopback': [
    'src/plugins/dev/keys/access.ts',
    'src/plugins/dev/keys/key-server.ts',
    'src/plugins/dev/keys/routes.ts',
    'src/plugins/dev/keys/transit-keys.ts',
    'src/plugins/dev/round-trip.ts',
    'src/plugins/dev/servers.ts',
    'src/plugins/dev/store/catalog.ts',
    'src/plugins/dev/store/listings.ts',
    'src/plugins/dev/store/object-routes.ts',
    'src/plugins/dev/store/object.ts',
    'src/plugins/dev/store/store-routes.ts',
    'src/plugins/dev/wrapped/wrapped-demo.ts',
    'src/plugins/dev/wrapped/wrapper-process.ts',
  ],
};
