import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { found, sourcesIn } from '../../scripts/docs/operator/sources.ts';

const test = suite('docs/TROUBLESHOOTING.md');

const pageOf = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

const page = pageOf('TROUBLESHOOTING.md');

const init = new URL('../../init/', import.meta.url);
/** Of svc-init, whose strings are quoted in another way. */
const initSource = readdirSync(init)
  .map((name) => readFileSync(new URL(name, init), 'utf8'))
  .join('\n')
  .replace(/\\?"/g, "'");

const everything = `${sourcesIn('.')}\n${initSource}`;

const inlineCode = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Codes of errors, in each of the ways in which they are given to one. */
const codes = [
  ...found(everything, /(?:new \w*Error|super|unevaluated|failure)\(\s*'([A-Z]+(?:_[A-Z]+)*)',/g),
  ...found(everything, /code: '([A-Z]+(?:_[A-Z]+)*)'/g),
  ...found(everything, /\[\s*'((?:AGENT|AUDIT)_[A-Z_]+)',\s*[`'"]/g),
];

/** Of those, the ones that nobody who runs svc is shown. */
const unseen: Readonly<Record<string, string>> = {
  NUL_IN_STRING: 'reported as SECRETS_UNUSABLE or as an error of the command line before',
  PROCESS_GONE: 'an answer to a registration whose process has ended',
  PROTECTION_UNSETTLED: 'an answer to a registration, which is asked for again',
  SECRET_REGION_TOO_SMALL: 'told as secrets.rotation.refused',
  SECRET_ENTRY_INVALID: 'reported as SECRETS_UNUSABLE before',
  NOT_SELF_CONTAINED: 'of svc-wrapper --copy-to, which the image calls',
  COPY_FAILED: 'of svc-wrapper --copy-to, which the image calls',
  INTERNAL: 'exit status 70: what it was is in the message',
  ADMISSION_INVALID: 'told to whoever calls the webhook',
  CLUSTER_NOT_LISTED: 'told by its message',
  CONFIGS_NOT_READ: 'told by its message',
  CONFIGS_TOO_MANY: 'told by its message',
  EAI_AGAIN: 'told by the message of the look-up',
  IMAGE_LOOKUP: 'told by its message',
  IMAGE_REFERENCE: 'told by its message',
  PULL_SECRETS: 'told by its message',
  KUBE_GONE: 'objects are listed anew',
  KUBE_NOT_FOUND: 'handled where it is met',
  KUBE_CONFLICT: 'handled where it is met',
  KUBE_REFUSED: 'told with what the API server says',
  KUBE_PROTOCOL: 'told with what came',
};

test('names nothing in capitals that the code does not have', () => {
  const named = inlineCode(page).flatMap((text) => text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []);
  assert.ok(named.length > 60, String(named.length));
  const isKnown = (name: string) => [`'${name}'`, `.${name}`].some((text) => everything.includes(text));
  assert.equal(
    named.filter((name) => !isKnown(name)),
    [],
  );
});

test('has every code that an error may end with', () => {
  const ofSystem = /^E[A-Z]+$/;
  const ofGrpc = new Set(['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'INTERNAL']);
  const missing = codes
    .filter((code) => !page.includes(`\`${code}\``) && unseen[code] === undefined)
    .filter((code) => !ofSystem.test(code) && !ofGrpc.has(code));
  assert.equal([...new Set(missing)], []);
});

test('excuses no code that there is not', () => {
  assert.equal(
    Object.keys(unseen).filter((code) => !everything.includes(`'${code}'`)),
    [],
  );
});

test('has every warning and error of the log of proxy, wrapper and agent', () => {
  const pages = ['TROUBLESHOOTING.md', 'AGENT.md', 'WRAPPER.md'].map(pageOf).join('\n');
  const sources = sourcesIn(
    'plugins/proxy',
    'plugins/bulk',
    'plugins/wrapper',
    'plugins/agent',
    'objects',
    'keyserver',
    'runtime',
  );
  // of the cluster's rooms the agent uses this one; those of the operator are in the reference
  const reflect = readFileSync(new URL('../../src/cluster/kube/reflect.ts', import.meta.url), 'utf8');
  const events = [
    ...found(`${sources}${reflect}`, /log\.(?:warn|error)\(\s*'([a-z._-]+)'/g),
    ...found(initSource, /log_line\('(?:warn|error)',\s*'([a-z._-]+)'/g),
  ];
  const plain = new Set([
    // said to be what they are by their own words
    ...[
      'start.failed',
      'config.remark',
      'shutdown.forced',
      'shutdown.overdue',
      'signal.undeliverable',
      'hits.more',
      'hits.unknown',
    ],
    ...[
      'agent.report.failed',
      'guard.beat.failed',
      'registration.failed',
      'registration.socket_failed',
      'memory.lock',
      'kube.handler.failed',
    ],
  ]);
  assert.equal(
    events.filter((event) => !pages.includes(`\`${event}\``) && !plain.has(event)),
    [],
  );
});

test('names no event that there is not', () => {
  const named = inlineCode(page).filter((text) => /^[a-z]+(?:\.[a-z_-]+)+$/.test(text));
  const events = named.filter((name) => !/^(?:operator|ebpf|spec)\./.test(name));
  assert.ok(events.length > 30, String(events.length));
  const known = (event: string) => everything.includes(`'${event}'`) || isBuilt(event);
  assert.equal(
    events.filter((event) => !known(event)),
    [],
  );
});

/** Events that end with the kind of what they tell. */
function isBuilt(event: string): boolean {
  const cut = event.lastIndexOf('.') + 1;
  const [head, kind] = [event.slice(0, cut), event.slice(cut)];
  return everything.includes(`\`${head}\${`) && everything.includes(`'${kind}'`);
}

test('quotes messages that there are', () => {
  const cells = page.split('\n').flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? []);
  const quoted = cells
    .flatMap(inlineCode)
    .filter((text) => text.includes(' ') && !/^(?:svc|--|curl)/.test(text));
  assert.ok(quoted.length > 12, String(quoted.length));
  const ofApiServer = ['failed calling webhook'];
  const joined = everything.replace(/'\s*\+\s*'/g, '');
  assert.equal(
    quoted.filter((text) => !joined.includes(text) && !ofApiServer.includes(text)),
    [],
  );
});

test('names metrics that there are', () => {
  const metrics = inlineCode(page).flatMap((text) => text.match(/\bsvc_[a-z_]+/g) ?? []);
  assert.ok(metrics.length > 8);
  const isKnown = (name: string) =>
    everything.includes(`'${name}'`) || everything.includes(`('${name.replace(/^svc_wrapper_/, '')}', `);
  assert.equal(
    metrics.filter((name) => !isKnown(name)),
    [],
  );
});

test('reasons of refused objects are those of the code, all of them', () => {
  const faults = found(sourcesIn('objects/format'), /^ {2}\| '([a-z-]+)'/gm);
  const rows = page.slice(page.indexOf('| `reason` of'), page.indexOf('Other lines of its log'));
  assert.equal(
    [...faults].sort(),
    [...new Set(inlineCode(rows.split('\n').slice(2).join('\n')))]
      .filter((one) => faults.includes(one))
      .sort(),
  );
});

test.run();
