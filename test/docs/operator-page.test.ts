import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { operatorMetrics } from '../../scripts/docs/operator/metrics.ts';
import { operatorPage, withTables } from '../../scripts/docs/operator/page.ts';
import { withRegions } from '../../scripts/docs/operator/regions.ts';
import { found, sourcesIn } from '../../scripts/docs/operator/sources.ts';
import { eventsByName } from '../../scripts/docs/reference/log-page.ts';
import { refusals } from '../../scripts/docs/reference/refusals.ts';

const test = suite('docs/OPERATOR.md, and what the reference has of the operator');

const page = readFileSync(operatorPage, 'utf8');

const operator = sourcesIn('plugins/operator');

function namesAll(names: readonly string[]): void {
  const missing = names.filter((name) => !page.includes(`\`${name}\``));
  assert.equal(missing, []);
}

test('has the tables of the code: npm run docs', () => {
  assert.is(page, withTables(page));
});

test('has every metric that the operator declares', () => {
  const declared = found(operator, /\.(?:counter|gauge|histogram)\(\s*'([a-z_0-9]+)'/g);
  assert.equal(
    operatorMetrics()
      .map(({ name }) => name)
      .sort(),
    [...declared].sort(),
  );
});

test('the reference has every event of the log', () => {
  const written = found(
    `${operator}${sourcesIn('cluster/kube')}`,
    /[lL]og\.(?:debug|info|warn|error)\(\s*'([a-z_.]+)'/g,
  );
  const passes = found(operator, /repeatPass\(\{\s*event: '([a-z.]+)'/g).map((event) => `${event}.failed`);
  const policies = found(operator, /'(egress\.policy\.[a-z]+)'/g);
  const known = eventsByName();
  assert.ok(written.length > 40);
  assert.equal(
    [...written, ...policies, ...passes].filter((event) => !known.has(event)),
    [],
  );
});

test('has every condition of health', () => {
  const direct = found(operator, /ealth\.(?:notReady|degraded)\(\s*'([a-z.-]+)'/g);
  const named = found(operator, /^const (?:condition|written|failurePolicy|pending) = '([a-z -]+)'/gm);
  namesAll([...direct, ...named, 'cluster.<resource>', 'watch.<resource>']);
});

test('has every reason of an event or a condition', () => {
  namesAll(found(operator, /'((?:Foreign|Egress|Spec)[A-Z][A-Za-z]+)'/g));
  namesAll(found(operator, /notReady\('([A-Z][A-Za-z]+)'/g));
});

test('the reference quotes messages that there are', () => {
  const sources = `${operator}${sourcesIn('cluster', 'runtime')}`;
  // those of others begin with whose they are
  const ours = refusals.map(([message]) => message).filter((message) => /^`[^`]+`$/.test(message));
  assert.ok(ours.length > 20);
  const parts = ours.flatMap((message) => message.replaceAll('`', '').split('…'));
  assert.equal(
    parts.map((part) => part.trim()).filter((part) => !sources.includes(part)),
    [],
  );
});

test('has a first look for each alert', () => {
  const file = new URL('../../manifests/chart/files/alerts.yaml', import.meta.url);
  const names = found(readFileSync(file, 'utf8'), /- alert: (\w+)/g);
  for (const name of names) assert.is(page.split(`| \`${name}\``).length, 2, name);
});

test('a region that nobody fills, or that is not there, is noticed', () => {
  const text = '<!-- one: by hand -->\nold\n<!-- end of one -->\n';
  assert.is(withRegions(text, { one: ['new'] }), '<!-- one: by hand -->\n\nnew\n\n<!-- end of one -->\n');
  assert.throws(() => withRegions(text, {}), /one/);
  assert.throws(() => withRegions(text, { one: [], two: [] }), /two/);
});

test.run();
