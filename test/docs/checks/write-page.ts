import { writeFileSync } from 'node:fs';
import { checks } from '../../../src/plugins/validate/registry.ts';
import { idsFile, knownIds } from '../../plugins/validate/known-ids.ts';
import { checksPage, renderChecks } from './page.ts';

writeFileSync(checksPage, renderChecks());

const current = new Set(checks.map(({ id }) => id));
const all = [...new Set([...knownIds().map(({ id }) => id), ...current])].filter((id) => id !== '').sort();
writeFileSync(idsFile, all.map((id) => (current.has(id) ? `${id}\n` : `${id} retired\n`)).join(''));
