import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';

/** By major version, the day on which fixes end. Source: https://github.com/nodejs/Release/blob/main/schedule.json */
const ends: Readonly<Record<string, string>> = {
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

export const nodeVersion: Check = {
  ...{ id: 'SVC-CONFIG-004', area: 'configuration', level: 'warning', needs: 'none' },
  title: 'Node.js is of a version that still gets fixes',
  cause:
    'The node that stands first in PATH is of a version without long-term support, or was not replaced when its support ended. Holes in it are not closed any more.',
  fix: 'Install a version with long-term support, or run svc by npx, which brings one along.',
  async run({ host, now }) {
    const { nodeVersion: version } = host;
    const end = ends[/^v(\d+)\./.exec(version)?.[1] ?? ''];
    if (end === undefined) return skipped(`This svc does not know until when ${version} gets fixes.`);
    if (now() < Date.parse(end)) return passed(`${version}, until ${end}`);
    return failed({ subject: 'node', message: `It is ${version}, and fixes ended on ${end}.` });
  },
};
