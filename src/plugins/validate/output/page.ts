import { existsSync } from 'node:fs';
import { packageFolder } from '../../../runtime/component/package-folder.ts';

/** Where a check is explained, from the root of the package. */
export const pageOf = (id: string): string => `docs/CHECKS.md#${id.toLowerCase()}`;

/** The same as an absolute address; undefined where the page is not installed. */
export function pageUri(id: string): string | undefined {
  const page = new URL('docs/CHECKS.md', packageFolder());
  return existsSync(page) ? `${page.href}#${id.toLowerCase()}` : undefined;
}
