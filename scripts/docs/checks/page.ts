import { fileURLToPath } from 'node:url';
import type { Check } from '../../../src/plugins/validate/check.ts';
import { checks } from '../../../src/plugins/validate/registry.ts';
import { areas } from '../../../src/plugins/validate/settings.ts';

export const checksPage = fileURLToPath(new URL('../../../docs/CHECKS.md', import.meta.url));

const head = `# Checks of svc validate

[All pages](README.md)

What each check verifies, the usual causes of a failure, and how to fix it. How to run them:
[VALIDATE.md](VALIDATE.md).

<!-- Written by \`npm run docs\` from the checks themselves: change it there. -->
`;

const needs: Readonly<Record<Check['needs'], string>> = {
  none: 'nothing',
  vault: 'a secrets server (`VAULT_ADDR`)',
  cluster: 'a cluster',
  store: 'an object store (`--bucket`)',
  node: 'this machine (`--node`)',
};

/** The page, an anchor a check. */
export function renderChecks(): string {
  const sections = areas.map((area) =>
    areaSection(
      area,
      checks.filter((one) => one.area === area),
    ),
  );
  return `${[head, ...sections.filter((text) => text !== '')].join('\n')}`;
}

function areaSection(area: string, some: readonly Check[]): string {
  return some.length === 0 ? '' : [`## ${area}`, '', ...some.map(checkSection)].join('\n');
}

function checkSection({ id, title, level, needs: need, cause, fix }: Check): string {
  return [
    `### ${id}`,
    '',
    `**${escaped(title)}.** Level: ${level}. Needs ${needs[need]}.`,
    '',
    `- Cause: ${escaped(cause)}`,
    `- Fix: ${escaped(fix)}`,
    '',
  ].join('\n');
}

/** Angle brackets and stars are text here. */
const escaped = (text: string) => text.replace(/[<>*_`]/g, (character) => `\\${character}`);
