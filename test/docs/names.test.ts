import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { componentMetrics } from '../../scripts/docs/reference/component-metrics.ts';
import { errorCodes } from '../../scripts/docs/reference/errors-page.ts';
import { exportedNames } from '../../scripts/docs/reference/exported-names.ts';
import { otherMarks } from '../../scripts/docs/reference/kubernetes-names.ts';
import { knownVariables } from '../../scripts/docs/reference/variables-known.ts';
import { annotationNames } from '../../src/cluster/injection/resolve/annotations.ts';
import { apiVersion } from '../../src/cluster/resources/resources.ts';
import { elsewhere } from './names/elsewhere.ts';
import { pages } from './names/pages.ts';
import { unknownFlags } from './names/unknown-flags.ts';

export const slow = true;

const test = suite('names in pages');

const others = new Set(Object.keys(elsewhere));

/** What a pattern finds in pages and is neither known, nor the beginning of known ones before an ellipsis, nor of others. */
function unknown(pattern: RegExp, known: ReadonlySet<string>): readonly string[] {
  const begins = (name: string) => [...known].some((one) => one.startsWith(name));
  return pages().flatMap(({ path, text }) =>
    [...text.matchAll(pattern)]
      .map(([name, rest]) => ({ name: name.replace(/[…*]$/, ''), isPart: rest !== undefined && rest !== '' }))
      .filter(({ name, isPart }) => !known.has(name) && !others.has(name) && !(isPart && begins(name)))
      .map(({ name }) => `${path}: ${name}`),
  );
}

test('variables are there', async () => {
  const known = new Set([...(await knownVariables()), ...errorCodes().keys()]);
  const pattern = /(?<![A-Z0-9_])(?:SVC|VAULT|AWS)_[A-Z0-9_]*([…*]?)/g;
  assert.equal(unknown(pattern, known), []);
});

test('metrics are there', () => {
  const declared = Object.values(componentMetrics).flatMap((metrics) => metrics());
  const series = declared.flatMap(({ name, type }) =>
    type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((part) => name + part) : [name],
  );
  const pattern = /(?<![\w-])(?:svc|controller_runtime|workqueue)_[a-z0-9_]+([…*]?)/g;
  assert.equal(unknown(pattern, new Set([...series, 'svc_build_info'])), []);
});

test('annotations and labels are there', () => {
  const known = new Set([
    ...[...annotationNames, ...Object.keys(otherMarks)],
    ...[...exportedNames, apiVersion],
  ]);
  const pattern = /(?<=["'`\s=])svc(?:\.io)?\/[a-z][a-z0-9-]*[a-z0-9]([…*]?)/g;
  assert.equal(unknown(pattern, known), []);
});

test('commands have the flags that are typed', () => {
  assert.equal(
    pages().flatMap(({ path, text }) =>
      unknownFlags(text)
        .filter((flag) => !others.has(flag))
        .map((flag) => `${path}: ${flag}`),
    ),
    [],
  );
});

test('what is said to be of others is still named', () => {
  const text = pages()
    .map((page) => page.text)
    .join('\n');
  assert.equal(
    [...others].filter((name) => !text.includes(name)),
    [],
  );
});

test('a name that is not there would be found', () => {
  const page = 'Run `svc run proxy --worker 2`, ```sh\n';
  assert.equal(unknownFlags(page), ['--worker']);
  assert.equal(unknownFlags('`svc run proxy --workers 2 | other --worker`'), []);
  assert.equal(
    unknownFlags('```sh\n$ VAULT_ADDR=x svc-wrapper --secret=a \\\n  --secrets=b -- app --port\n```\n'),
    ['--secret'],
  );
});

test.run();
