import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { operatorMetrics } from '../../scripts/docs/operator/metrics.ts';
import { operatorPage, withTables } from '../../scripts/docs/operator/page.ts';
import { withRegions } from '../../scripts/docs/operator/regions.ts';
import { found, sourcesIn } from '../../scripts/docs/operator/sources.ts';

const test = suite('docs/OPERATOR.md');

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

test('has every event of the log', () => {
  const written = found(
    `${operator}${sourcesIn('cluster/kube')}`,
    /log\.(?:debug|info|warn|error)\(\s*'([a-z_.]+)'/g,
  );
  const passes = found(operator, /repeatPass\(\{\s*event: '([a-z.]+)'/g).map((event) => `${event}.failed`);
  const policies = found(operator, /'(egress\.policy\.[a-z]+)'/g);
  // a pass over files catches what it meets itself
  namesAll([...written, ...policies, ...passes.filter((event) => event !== 'certificates.files.failed')]);
});

test('has every condition of health', () => {
  const direct = found(operator, /ealth\.(?:notReady|degraded)\(\s*'([a-z.-]+)'/g);
  const named = found(operator, /^const (?:condition|written|failurePolicy|pending) = '([a-z -]+)'/gm);
  namesAll([...direct, ...named, 'cluster.<resource>', 'watch.<resource>']);
});

test('has every code with which the process ends, and every reason of an event', () => {
  const codes = found(operator, /new SvcError\(\s*'([A-Z_]+)'/g);
  // these are told to whoever makes the pod
  const ofPods = [
    ...['ADMISSION_INVALID', 'CLUSTER_NOT_LISTED', 'CONFIGS_NOT_READ', 'CONFIGS_TOO_MANY'],
    ...['IMAGE_REFERENCE', 'PULL_SECRETS'],
  ];
  for (const code of ofPods) assert.ok(codes.includes(code), code);
  namesAll(codes.filter((code) => !ofPods.includes(code)));
  namesAll(found(operator, /'((?:Foreign|Egress|Spec)[A-Z][A-Za-z]+)'/g));
  namesAll(found(operator, /notReady\('([A-Z][A-Za-z]+)'/g));
});

test('quotes messages that there are', () => {
  const sources = `${operator}${sourcesIn('cluster', 'runtime')}`;
  const start = page.indexOf('## When it does not work');
  const rows = page
    .slice(start)
    .split('\n')
    .filter((line) => /^\| `[^`]+` +\|/.test(line));
  assert.ok(rows.length > 20);
  for (const row of rows)
    for (const part of quoted(row)) assert.ok(sources.includes(part), `${part} is said nowhere`);
});

/** The pieces of the first cell around what differs from time to time. */
function quoted(row: string): readonly string[] {
  const [, message = ''] = /^\| `([^`]+)`/.exec(row) ?? [];
  return message.split('…').map((part) => part.trim());
}

test('has the alerts with a first look each', () => {
  const names = found(page, /^\| `(Svc[A-Za-z]+)` +\|/gm);
  for (const name of names) assert.is(page.split(`| \`${name}\``).length, 3, name);
});

test('a region that nobody fills, or that is not there, is noticed', () => {
  const text = '<!-- one: by hand -->\nold\n<!-- end of one -->\n';
  assert.is(withRegions(text, { one: ['new'] }), '<!-- one: by hand -->\n\nnew\n\n<!-- end of one -->\n');
  assert.throws(() => withRegions(text, {}), /one/);
  assert.throws(() => withRegions(text, { one: [], two: [] }), /two/);
});

test.run();
