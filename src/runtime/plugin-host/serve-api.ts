import module from 'node:module';
import { checkPlugin } from './check-plugin.ts';

/**
 * Gives plugins this very svc when they import `svc/plugin`, wherever they lie: what they share with it (errors, the
 * redaction of secrets) exists once, and none of them brings a copy.
 */
export function serveApi(): void {
  module.registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith('svc/') || context.parentURL === import.meta.url)
        return next(specifier, context);
      const packageFile = context.parentURL && module.findPackageJSON(context.parentURL);
      if (packageFile) checkPlugin(packageFile);
      return { url: import.meta.resolve(specifier), format: 'module', shortCircuit: true };
    },
  });
}
