import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { CRD_FOLDER, renderCustomResources } from '../../scripts/lib/custom-resources.mjs';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { definitions } from '../../src/cluster/resources/definitions.ts';

const test = suite('templates of custom resources');

test('one a custom resource, as the source has it', async () => {
  const rendered = await renderCustomResources(ROOT);
  assert.equal(
    rendered.map(([name, text]) => [name, parse(text)]),
    Object.entries(definitions).map(([plural, one]) => [`${CRD_FOLDER}/${plural}.yaml`, one]),
  );
});

test('those of the chart are current', async () => {
  const rendered = (await renderCustomResources(ROOT)).map(([name]) => name);
  assert.equal(
    readdirSync(join(ROOT, CRD_FOLDER)).map((name) => `${CRD_FOLDER}/${name}`),
    rendered.sort(),
  );
  for (const [name, text] of await renderCustomResources(ROOT))
    assert.is(readFileSync(join(ROOT, name), 'utf8'), text, name);
});

test('a chart that is uninstalled leaves them', () => {
  for (const { metadata } of Object.values(definitions))
    assert.is(metadata.annotations['helm.sh/resource-policy'], 'keep');
});

test.run();
