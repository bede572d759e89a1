import { readFileSync, writeFileSync } from 'node:fs';
import { withTables, wrapperPage } from './page.ts';

writeFileSync(wrapperPage, withTables(readFileSync(wrapperPage, 'utf8')));
