import { writeFileSync } from 'node:fs';
import { roadsPage } from './roads-page.ts';

writeFileSync(new URL('../../../../docs/AGENT-ROADS.md', import.meta.url), roadsPage());
