import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { found, sourcesIn } from '../../scripts/docs/operator/sources.ts';
import { chartSchema } from '../../scripts/docs/reference/chart-schema.ts';
import { chartValues } from '../../scripts/docs/reference/chart-values.ts';
import { componentMetrics } from '../../scripts/docs/reference/component-metrics.ts';
import { errorCodes } from '../../scripts/docs/reference/errors-page.ts';
import { exportedNames } from '../../scripts/docs/reference/exported-names.ts';
import { objectHeaders, otherMarks } from '../../scripts/docs/reference/kubernetes-names.ts';
import { logMeanings } from '../../scripts/docs/reference/log-meanings.ts';
import { eventsByName } from '../../scripts/docs/reference/log-page.ts';
import { commands } from '../../scripts/docs/reference/manifest.ts';
import { referenceFolder, referencePages } from '../../scripts/docs/reference/pages.ts';
import { settingSets, unplaced } from '../../scripts/docs/reference/setting-sets.ts';
import {
  variablesBeside,
  variablesGiven,
  variablesOfOclif,
} from '../../scripts/docs/reference/variables-beside.ts';
import { settingVariables } from '../../scripts/docs/reference/variables-known.ts';
import { variablesNamed, variablesRead } from '../../scripts/docs/reference/variables-read.ts';
import { annotationNames } from '../../src/cluster/injection/resolve/annotations.ts';

export const slow = true;

const test = suite('docs/reference');

const everything = sourcesIn('.');

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

test('is what the code says: npm run docs', async () => {
  const pages = await referencePages();
  assert.equal(readdirSync(referenceFolder).sort(), sorted(pages.keys()));
  const stale = [...pages].filter(
    ([name, text]) => readFileSync(new URL(name, referenceFolder), 'utf8') !== text,
  );
  assert.equal(
    stale.map(([name]) => name),
    [],
  );
});

test('has every setting that is declared, and every flag that names a variable', async () => {
  assert.equal(unplaced(await settingSets()), []);
  const declared = found(everything, /^\s+variable: '([A-Z0-9_]+)'/gm);
  assert.equal(sorted(await settingVariables()), sorted(declared));
});

test('has every variable that is read beside settings, and no other', async () => {
  const settings = await settingVariables();
  const read = [...variablesRead()].filter((name) => !settings.has(name));
  const named = variablesNamed();
  assert.equal(
    read.filter((name) => !(name in variablesBeside)),
    [],
  );
  const idle = Object.keys(variablesBeside).filter((name) => !read.includes(name) && !named.has(name));
  assert.equal(idle, []);
  assert.equal(
    Object.keys(variablesGiven).filter((name) => !named.has(name)),
    [],
  );
});

test('has the variables of oclif that it reads by that name', () => {
  const file = new URL('../../node_modules/@oclif/core/lib/config/config.js', import.meta.url);
  const text = readFileSync(file, 'utf8');
  for (const name of Object.keys(variablesOfOclif))
    assert.ok(text.includes(`scopedEnvVar('${name.slice('SVC_'.length)}')`), name);
});

test('has every metric that a component declares', () => {
  for (const [component, metrics] of Object.entries(componentMetrics)) {
    const sources = sourcesIn(`plugins/${component}`);
    const direct = /\.(?:counter|gauge|histogram)\(\s*'([a-z_0-9]+)'/g;
    const prefixed = /[ ,(](?:counter|gauge)\(\s*'([a-z_0-9]+)'/g;
    const names =
      component === 'wrapper'
        ? found(sources, prefixed).map((name) => `svc_wrapper_${name}`)
        : found(sources, direct);
    assert.equal(sorted(metrics().map(({ name }) => name)), sorted(names), component);
  }
});

test('has every code of an error', () => {
  const made = found(everything, /new (?:Svc|Kube|Registry)Error\(\s*'([A-Z0-9_]+)'/g);
  const known = errorCodes();
  assert.equal(
    made.filter((code) => !known.has(code)),
    [],
  );
  for (const code of known.keys()) assert.ok(everything.includes(`'${code}'`), code);
});

test('finds a code with its status in every way that errors are made', () => {
  const codes = errorCodes();
  const statuses = {
    // where it is written, through a function, from a list, of a class, of a family, of an error that is not ours
    ...{ CA_FILE_UNUSABLE: [78], SECRET_FD_INVALID: [78], AGENT_REFUSED: [77], BPF_LOAD_FAILED: [71] },
    ...{ KUBE_UNAVAILABLE: [69], INTERNAL: [70] },
    // by a condition
    DECRYPT_STORE_FAILED: [69, 78],
  };
  for (const [code, status] of Object.entries(statuses)) {
    assert.equal(codes.get(code)?.[0]?.statuses, status, code);
    assert.ok(codes.get(code)?.[0]?.nextStep, code);
  }
});

test('says of every event of the log what it means, and of each warning and error what to do', () => {
  const events = eventsByName();
  assert.equal(sorted(Object.keys(logMeanings)), sorted(events.keys()));
  const serious = [...events].filter(([, all]) =>
    all.some(({ levels }) => levels.includes('warn') || levels.includes('error')),
  );
  assert.equal(
    serious.map(([name]) => name).filter((name) => !logMeanings[name]?.[1]),
    [],
  );
});

test('finds an event in every way that one is written', () => {
  const events = eventsByName();
  const written = {
    // where it is written, by a template, through a function, of a variable, with a level that is chosen
    ...{ 'secrets.fetched': 'info', 'hit.seen': 'warn', 'secrets.wipe.failed': 'warn' },
    ...{ 'run.failed': 'error', 'operator.unreachable': 'debug, warn', 'guard.tier': 'info, warn' },
  };
  for (const [name, levels] of Object.entries(written))
    assert.equal(sorted((events.get(name) ?? []).flatMap((event) => event.levels)).join(', '), levels, name);
  assert.is(events.get('proxy.vault.unavailable')?.length, 1);
  assert.ok(events.get('hit.seen')?.[0]?.fields.includes('source_comm'));
});

test('has every label, annotation and header of ours', () => {
  const marks = found(everything, /'(svc\/[a-z0-9-]+)'/g).filter((name) => !exportedNames.has(name));
  assert.equal(sorted(marks), sorted([...annotationNames, ...Object.keys(otherMarks)]));
  const headers = found(everything, /'(x-amz-meta-svc-[a-z0-9-]*[a-z0-9])'/g);
  assert.equal(sorted(headers), sorted(Object.keys(objectHeaders)));
});

test('has every value that the schema of the chart admits', () => {
  const leaves = chartValues().map(({ path }) => path);
  const admitted = [...chartSchema().keys()].filter((path) => !optional.test(path));
  assert.equal(sorted(leaves), sorted(admitted));
});

/** Without a default: values of a chart around this one, and disk. */
const optional = /^global$|ephemeral-storage$/;

test('has every command', () => {
  const files = readdirSync(new URL('../../src/commands/', import.meta.url), {
    recursive: true,
    encoding: 'utf8',
  });
  const ids = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.replace(/(?:\/index)?\.ts$/, '').replaceAll('/', ':'));
  assert.equal(sorted(commands().map(({ id }) => id)), sorted(ids));
});

test.run();
