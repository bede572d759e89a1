import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const root = fileURLToPath(new URL('../../', import.meta.url));
const test = suite('words that were replaced');

/** Names in code, and what stands in their place. A property of a stable interface (`road`, `addends`) is no name here. */
const names: Readonly<Record<string, string>> = {
  'Roads?\\w*|\\w+Roads?|roads|road(?!Name\\b)[A-Z]\\w*':
    'AccessPath for attacks, S3Upstream, strategy for ways to send',
  'Wire|HttpWire|createWire': 'JsonHttpClient, RegistryHttpClient, UpstreamExchange',
  'Answer|HttpAnswer': 'ResponseWriter, or what it answers',
  'Exchange|Refusal|Surroundings|Outcome': 'a name that says of what',
  CallerGone: 'ClientDisconnected',
  'Crew|crews?|startCrew': 'ClusterPrimary',
  'ConnectionRoom|ReviewRoom|createReviewRoom': 'ConnectionLimiter, ReviewMemoryLimit',
  'createStrangerLog|judgeStranger': 'createUnauthorizedClientLog, judgeReusedPid',
  'NodeBook|Ledger': 'NodeRegistry, PendingReports',
  'Hit|HitPump|HitLine|HitQueue|ObservedHit|JudgedHit|createHitSink|eachHit|hitBy':
    'AccessEvent, EventReader',
  'letGoOn|hasLate|coverInTurns': 'resumeStoppedProcess, hasPreOpened, protectIncrementally',
  'startBeats|startRounds|startSweeps|Beats|BeatOptions|beat|keepBeating':
    'startPeriodic, startRepeated, a pass',
  'Question|Reply': 'a name that says of what: SecretRequest, PodRequest, ReportReply, StoreReply',
  BookLimits: 'NodeRegistryLimits',
  stay: 'superviseApplication',
  'tellChanges|Look|createLook|Settling': 'recordPolicyChanges, Reconcile, CaPropagation',
  '\\w*Wishes|Remarks': 'RequestedSettings, Diagnostics',
  'Addend|Flights|createFlights': 'Factor, SingleFlight',
  'mostUnaccepted|usualLimits': 'listenBacklog, defaultLimits',
};

/** Phrases in comments, texts and pages. */
const phrases: Readonly<Record<string, string>> = {
  'mend|mends|mended|mending': 'fix',
  'serves? on(?! (?:port|[\\d`\\[:]|loopback|localhost|both|every|all|the|its|a ))': 'keep serving',
  'guards? on(?! (?:tier|the))': 'keep enforcing',
  'of two as old': 'ties are broken by',
};

/** A file or folder, whatever follows the first dot of its name. */
const oldName = new RegExp(
  `^(?:[\\w-]*-)?(?:${[
    ...['roads?', 'wire', 'wishes', 'addends', 'crews?', 'mistakes?', 'stranger-log', 'one-meaning'],
    ...['(?:connection|review)-room', 'hits?(?:-[\\w-]+)?', 'beats?', 'http-answer', 'caller-gone'],
    ...['let-go-on', 'cover-in-turns', 'node-book', 'ledger', 'flights', 'settling', 'surroundings'],
  ].join('|')})(?:\\.|$)`,
);

const exportedType = /^export (?:abstract |declare )?(?:type|interface|class) (\w+)/gm;

const tracked = (...paths: string[]) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...paths], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');

/** All but this file, which has to name the words, and data that programs write. */
const isHeld = (path: string) => path !== 'test/docs/vocabulary.test.ts' && !path.startsWith('test/vectors/');

/** `path:line: word → replacement`, for each place of a word. */
function places(
  paths: readonly string[],
  words: Readonly<Record<string, string>>,
  inLine: (word: string) => RegExp,
) {
  const rules = Object.entries(words).map(([word, instead]) => ({ instead, matches: inLine(word) }));
  return paths.flatMap((path) =>
    readFileSync(root + path, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        rules.flatMap(({ matches, instead }) => {
          const [found] = matches.exec(line) ?? [];
          return found === undefined ? [] : [`${path}:${index + 1}: ${found.trim()} → ${instead}`];
        }),
      ),
  );
}

const declares = (word: string) =>
  new RegExp(`\\b(?:class|interface|type|function|const|enum|func|package) (?:${word})\\b(?! from)`);
const says = (word: string) => new RegExp(`\\b(?:${word})\\b`, 'i');

test('no code declares them', () => {
  const code = tracked('src', 'test', 'bench', 'scripts').filter(
    (path) => /\.(ts|mjs|go)$/.test(path) && isHeld(path),
  );
  assert.ok(code.length > 1_500);
  assert.equal(places(code, names, declares), []);
});

test('no file or folder is named by them', () => {
  const named = tracked('src', 'bpf', 'test', 'bench').filter(
    (path) => isHeld(path) && path.split('/').some((name) => oldName.test(name)),
  );
  assert.equal(named, []);
});

test('no comment, text or page says them', () => {
  const texts = tracked(
    'src',
    'bpf',
    'scripts',
    'test',
    'bench',
    'manifests',
    'docs',
    'README.md',
    'CONTRIBUTING.md',
  ).filter((path) => /\.(ts|mjs|md|h|c|go|yaml)$/.test(path) && !/TESTS\.md$/.test(path) && isHeld(path));
  assert.ok(texts.length > 1_500);
  assert.equal(places(texts, phrases, says), []);
});

test('a word that came back would be found', () => {
  assert.ok(declares('Wire').test('export interface Wire {'));
  assert.not.ok(declares('Wire').test('type WireTap = string;'));
  assert.ok(says('mend|mends').test('// what it may mend'));
  for (const name of ['road', 'roads.ts', 'hit-sink.test.ts', 'hits', 'review-room.server.test.ts'])
    assert.ok(oldName.test(name), name);
  for (const name of ['wire-plan.ts', 'slow-answer.ts', 'broadcast.ts', 'name-book.ts'])
    assert.not.ok(oldName.test(name), name);
});

test('the name of an exported type stands for one thing in src/', () => {
  const declared = tracked('src/**/*.ts').flatMap((path) =>
    [...readFileSync(root + path, 'utf8').matchAll(exportedType)].map(([, name = '']) => ({ name, path })),
  );
  const byName = Object.groupBy(declared, ({ name }) => name);
  const several = Object.entries(byName).filter(([, places = []]) => places.length > 1);
  assert.ok(declared.length > 500, `${declared.length} types found`);
  assert.equal(
    several.map(([name, places = []]) => `${name}: ${places.map(({ path }) => path).join(', ')}`),
    [],
  );
});

test.run();
