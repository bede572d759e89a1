import { readFileSync, writeFileSync } from 'node:fs';
import { operatorPage, withTables } from './page.ts';

writeFileSync(operatorPage, withTables(readFileSync(operatorPage, 'utf8')));
