import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { FakeObject } from './fake-cluster.ts';

const plain = new URL('../../../../manifests/plain/svc.yaml', import.meta.url);

/** What the chart installs, as it is rendered for people without Helm. */
export const chartObjects: readonly FakeObject[] = parseAllDocuments(readFileSync(plain, 'utf8'))
  .map((document) => document.toJS() as FakeObject | null)
  .filter((object) => object !== null);
