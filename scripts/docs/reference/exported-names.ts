import packageFile from '../../../package.json' with { type: 'json' };

/** What the package exports, as it is imported; `svc/secrets` looks like an annotation and is none. */
export const exportedNames: ReadonlySet<string> = new Set(
  Object.keys(packageFile.exports).map((path) => path.replace('.', 'svc')),
);
