import { mkdirSync, writeFileSync } from 'node:fs';
import { referenceFolder, referencePages } from './pages.ts';

mkdirSync(referenceFolder, { recursive: true });
for (const [name, text] of await referencePages()) writeFileSync(new URL(name, referenceFolder), text);
