import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KubeClient, KubeError } from '../../../src/cluster/kube/client.ts';
import {
  type Check,
  type CheckResult,
  failed,
  NotEvaluated,
  NothingNamed,
  notEvaluated,
  passed,
  Skipped,
  shared,
  skipped,
  verdictOnPart,
} from '../../../src/plugins/validate/check.ts';
import { runChecks, untilPassed } from '../../../src/plugins/validate/index.ts';
import { junitReport, sarifReport, shortReport, tableReport } from '../../../src/plugins/validate/output.ts';
import { checks, readIgnores, selected } from '../../../src/plugins/validate/registry.ts';
import { makeReport } from '../../../src/plugins/validate/report.ts';
import { runCheck } from '../../../src/plugins/validate/run-check.ts';
import { secrets } from '../../../src/runtime/logging/secrets.ts';
import { contextOf } from './test-context.ts';

const test = suite('the frame of svc validate');
const unignored = readIgnores([], checks);

function checkOf(id: string, run: Check['run'], more: Partial<Check> = {}): Check {
  return {
    ...{ id, area: 'configuration', title: 'It holds', level: 'error', needs: 'none' },
    ...{ cause: 'Something.', fix: 'Fix it.', run },
    ...more,
  };
}

const giving = (id: string, result: CheckResult, more: Partial<Check> = {}) =>
  checkOf(id, async () => result, more);
const throwing = (error: unknown) =>
  runCheck(
    checkOf('SVC-X-001', async () => {
      throw error;
    }),
    contextOf({}),
  );

async function reportOf(
  some: readonly Check[],
  failOn: 'error' | 'warning' | 'none' = 'error',
  ignore: string[] = [],
) {
  const checked = await runChecks(some, contextOf({}), () => {});
  return makeReport(checked, failOn, readIgnores(ignore, some));
}

test('a check has its time from when its cluster is connected: somebody may have to log in', async () => {
  const connected = new Promise<KubeClient>((resolve) => setTimeout(() => resolve({} as KubeClient), 600));
  const cluster = () => connected;
  const check = checkOf('SVC-X-001', async () => passed(), { needs: 'cluster', timeoutMs: 300 });
  assert.equal(await runCheck(check, contextOf({ cluster })), passed());
});

test('what a check throws is "could not be evaluated", with the permission where one is missing', async () => {
  assert.equal(await throwing(new NotEvaluated('No.', 'list pods')), notEvaluated('No.', 'list pods'));
  assert.equal(await throwing(new Skipped('Nothing.')), skipped('Nothing.'));
  assert.equal(await throwing(new NothingNamed('skipped', 'No.')), { ...skipped('No.'), unset: true });
  assert.equal(await throwing(new NothingNamed('not-evaluated', 'No.')), {
    ...notEvaluated('No.'),
    unset: true,
  });
  const message =
    'GET /apis: 403: pods is forbidden: User "x" cannot list resource "pods" in API group "" at the cluster scope';
  assert.equal(await throwing(new KubeError('KUBE_DENIED', message)), notEvaluated(message, 'list pods'));
  const forget = secrets.register('planted-secret-4711');
  assert.equal(
    await throwing(new TypeError('planted-secret-4711')),
    notEvaluated('The check itself broke: [redacted]'),
  );
  forget();
});

test('what a check finds is told without the secrets that are known while it runs', async () => {
  const forget = secrets.register('planted-secret&4711');
  const said = (message: string) => ({ subject: 'server', message });
  const results = [failed(said('planted-secret&4711')), passed('planted-secret&4711')];
  const told = await Promise.all(
    results.map((result) => runCheck(giving('SVC-X-001', result), contextOf({}))),
  );
  forget();
  assert.equal(told, [failed(said('[redacted]')), passed('[redacted]')]);
});

test('a check that failed without saying in what is not taken for ignored', async () => {
  assert.is((await reportOf([giving('SVC-X-001', failed())])).checks[0]?.state, 'failed');
});

test('a check has its own time', async () => {
  const endless = checkOf('SVC-X-001', () => new Promise(() => {}), { timeoutMs: 20 });
  assert.equal(await runCheck(endless, contextOf({})), notEvaluated('It took longer than 0.02 s'));
});

test('what a check created is removed before the run ends, interrupted or late', async () => {
  let removed = 0;
  const creating = (more: Partial<Check>) =>
    checkOf(
      'SVC-X-002',
      async (_context, signal) => {
        if (!signal.aborted) await once(signal, 'abort');
        await new Promise((resolve) => setImmediate(resolve));
        removed += 1;
        return passed();
      },
      { undoMs: 60_000, ...more },
    );
  const late = await runCheck(creating({ timeoutMs: 20 }), contextOf({}));
  assert.equal([late.state, removed], ['not-evaluated', 1]);
  const stop = new AbortController();
  const endless = checkOf('SVC-X-001', () => new Promise(() => {}));
  const running = runChecks([endless, creating({})], contextOf({ signal: stop.signal }), () => {});
  stop.abort(new Error('interrupted'));
  await running.then(
    () => assert.unreachable(),
    () => {},
  );
  assert.is(removed, 2);
});

test('an interruption ends the run', async () => {
  const stop = new AbortController();
  const endless = checkOf('SVC-X-001', () => new Promise(() => {}));
  const running = runCheck(endless, contextOf({ signal: stop.signal }));
  stop.abort(new Error('interrupted'));
  let thrown: unknown;
  await running.catch((error: unknown) => {
    thrown = error;
  });
  assert.is((thrown as Error).message, 'interrupted');
});

test('a need that cannot be had keeps the check from being run', async () => {
  const never = checkOf('SVC-X-001', async () => passed('it ran'), { needs: 'cluster' });
  const cluster = async () => {
    throw new NotEvaluated('No cluster is named.');
  };
  assert.equal(await runCheck(never, contextOf({ cluster })), notEvaluated('No cluster is named.'));
});

test('all checks run, whatever comes of some', async () => {
  const ran: string[] = [];
  const some = Array.from({ length: 30 }, (_, index) =>
    checkOf(`SVC-X-${100 + index}`, async () => {
      ran.push(`SVC-X-${100 + index}`);
      if (index % 3 === 0) throw new Error('broken');
      return index % 3 === 1 ? passed() : failed({ subject: 's', message: 'M.' });
    }),
  );
  const report = await reportOf(some);
  assert.is(ran.length, 30);
  assert.equal(
    report.checks.map(({ id }) => id),
    some.map(({ id }) => id),
  );
});

const broken = failed({ subject: 'shop/web', message: 'It is broken.' });

test('exit statuses: errors, then what is not known, then warnings; nothing looked at is not passed', async () => {
  const error = giving('SVC-X-001', broken);
  const warning = giving('SVC-X-002', broken, { level: 'warning' });
  const unknown = giving('SVC-X-003', notEvaluated('No.'));
  const good = giving('SVC-X-004', passed());
  const none = giving('SVC-X-005', skipped('No.'));
  const status = async (...args: Parameters<typeof reportOf>) => (await reportOf(...args)).outcome.exitStatus;
  assert.is(await status([good, none, warning]), 0);
  assert.is(await status([good, warning], 'warning'), 2);
  assert.is(await status([error, unknown, warning], 'warning'), 1);
  assert.is(await status([good, unknown, warning], 'warning'), 4);
  assert.is(await status([error, unknown], 'none'), 4);
  assert.is(await status([error], 'none'), 0);
  assert.is(await status([none]), 4);
  assert.is(await status([]), 4);
});

test('what is ignored does not count and is shown', async () => {
  const both = failed({ subject: 'shop/web', message: 'A.' }, { subject: 'shop/api', message: 'B.' });
  const check = giving('SVC-X-001', both);
  const one = await reportOf([check], 'error', ['SVC-X-001=shop/web']);
  assert.is(one.outcome.exitStatus, 1);
  assert.equal(one.summary.findings.error, 1);
  const all = await reportOf([check], 'error', ['SVC-X-001']);
  assert.is(all.outcome.exitStatus, 0);
  assert.is(all.checks[0]?.state, 'ignored');
  assert.match(shortReport(all), /^ignored SVC-X-001 shop\/web: A\.$/m);
  const unknown = giving('SVC-X-001', notEvaluated('No.'));
  assert.is((await reportOf([unknown], 'error', ['SVC-X-001'])).outcome.exitStatus, 0);
  assert.is((await reportOf([unknown], 'error', ['SVC-X-001=shop/web'])).outcome.exitStatus, 4);
  assert.is(readIgnores(['SVC-Y-001', 'SVC-X-001=a'], [check]).warnings.length, 1);
});

test('what is not known beside what was found counts, and stays when that is ignored', async () => {
  const part = (level: 'error' | 'warning') =>
    giving(
      'SVC-X-001',
      verdictOnPart([{ subject: 'shop/web', message: 'A.', level }], 'It is away', 'list pods'),
    );
  const outcome = async (level: 'error' | 'warning', ...ignore: string[]) =>
    (await reportOf([part(level)], 'error', ignore)).outcome.exitStatus;
  assert.is(await outcome('error'), 1);
  assert.is(await outcome('warning'), 4);
  assert.is(await outcome('error', 'SVC-X-001=shop/web'), 4);
  assert.is(await outcome('error', 'SVC-X-001'), 0);
  assert.equal(verdictOnPart([], 'It is away', 'list pods'), notEvaluated('It is away', 'list pods'));
});

test('it is shown in every form', async () => {
  const forget = secrets.register('planted-secret-4712');
  const found = { subject: 'shop/web', message: 'A.', level: 'warning' as const };
  const report = await reportOf([
    giving('SVC-X-001', verdictOnPart([found], 'It is planted-secret-4712', 'list pods')),
  ]);
  forget();
  const reason = 'It is [redacted] (missing permission: list pods)';
  assert.equal(shortReport(report).split('\n').slice(0, 2), [
    'warning SVC-X-001 shop/web: A.',
    `unknown SVC-X-001 ${reason}`,
  ]);
  assert.ok(tableReport(report, (_style, plain) => plain).includes(`  unknown ${reason}\n`));
  const xml = junitReport(report, 'error');
  assert.match(xml, /failures="0" errors="1"/);
  assert.ok(xml.includes(`<error type="not-evaluated" message="${reason}">warning shop/web: A.`));
  assert.match(junitReport(report, 'warning'), /failures="1" errors="0"[\s\S]*unknown: It is/);
  const [run] = JSON.parse(sarifReport(report, '1.0.0')).runs;
  assert.is(run.results.length, 1);
  assert.is(run.invocations[0].toolExecutionNotifications[0].message.text, reason);
});

test('waiting repeats what did not pass, and that alone', async () => {
  let tries = 0;
  const late = checkOf('SVC-X-001', async () => (++tries < 2 ? broken : passed()));
  let others = 0;
  const good = checkOf('SVC-X-002', async () => {
    others += 1;
    return passed();
  });
  assert.equal(await statesAfter([late, good]), ['passed', 'passed']);
  assert.equal([tries, others], [2, 1]);
});

const pauses: unknown[] = [];

/** What becomes of checks that are waited for. */
async function statesAfter(some: readonly Check[]): Promise<readonly string[]> {
  pauses.length = 0;
  const checked = await untilPassed(some, {
    attempt: (open) => runChecks(open, contextOf({}), () => {}),
    passes: (those) => makeReport(those, 'error', unignored).outcome.exitStatus === 0,
    wait: 60_000,
    signal: new AbortController().signal,
    onPause: (open) => pauses.push(open),
  });
  return checked.map(({ result }) => result.state);
}

const unnamed = (id: string, state: NothingNamed['state']) =>
  checkOf(id, async () => {
    throw new NothingNamed(state, 'None is named.');
  });

/** Comes to this at its first attempt, and passes at the next one. */
function lateAfter(id: string, first: CheckResult): Check {
  let tries = 0;
  return checkOf(id, async () => (++tries < 2 ? first : passed()));
}

test('waiting ends at once where only what no setting names is left', async () => {
  const unknown = unnamed('SVC-X-001', 'not-evaluated');
  const none = unnamed('SVC-X-002', 'skipped');
  const good = giving('SVC-X-003', passed());
  const hint = giving('SVC-X-004', broken, { level: 'info' });
  for (const some of [[unknown], [none], [unknown, none], [unknown, none, good, hint], [none, hint]]) {
    const states = await statesAfter(some);
    assert.equal([states[0], pauses.length], [some[0] === none ? 'skipped' : 'not-evaluated', 0]);
  }
});

for (const [what, first] of [
  ['failed', broken],
  ['could not be evaluated', notEvaluated('It is away.')],
  ['found nothing to look at', skipped('No pod is there.')],
] as const) {
  test(`waiting goes on for what ${what}, whatever else no setting names`, async () => {
    for (const state of ['skipped', 'not-evaluated'] as const) {
      const states = await statesAfter([unnamed('SVC-X-001', state), lateAfter('SVC-X-002', first)]);
      assert.equal([states, pauses.length], [[state, 'passed'], 1]);
    }
  });
}

test('flags choose what is checked', () => {
  const none = { pre: false, node: false, rehearsal: false, areas: [], ids: [] };
  const of = (selection: Partial<Parameters<typeof selected>[1]>) =>
    selected(checks, { ...none, ...selection });
  assert.ok(of({}).every(({ area }) => area !== 'host'));
  assert.ok(of({}).some(({ needs }) => needs === 'cluster'));
  assert.ok(of({ pre: true }).every(({ area, needs }) => area !== 'host' && needs !== 'cluster'));
  assert.ok(of({ node: true }).every(({ area }) => area === 'host'));
  assert.ok(of({ pre: true, node: true }).some(({ area }) => area === 'kek'));
  assert.ok(of({ areas: ['kek'] }).every(({ area }) => area === 'kek'));
  const areasOf = (selection: Parameters<typeof of>[0]) => [
    ...new Set(of(selection).map(({ area }) => area)),
  ];
  assert.not.ok(areasOf({}).includes('recovery') || areasOf({ pre: true }).includes('recovery'));
  assert.equal(areasOf({ rehearsal: true }), ['recovery']);
  assert.equal(areasOf({ rehearsal: true, node: true }), ['recovery', 'host']);
  assert.equal(areasOf({ rehearsal: true, areas: ['kek'] }), ['kek', 'recovery']);
  assert.ok(areasOf({ rehearsal: true, pre: true }).includes('kek'));
  assert.equal(
    of({ ids: ['SVC-HOST-001', 'SVC-KEK-001'] }).map(({ id }) => id),
    ['SVC-KEK-001', 'SVC-HOST-001'],
  );
});

test('what checks share is loaded once an attempt', async () => {
  let loads = 0;
  const load = shared(async () => ++loads);
  const context = contextOf({});
  await Promise.all([load(context), load(context)]);
  assert.is(loads, 1);
  await load(contextOf({}));
  assert.is(loads, 2);
});

const esc = String.fromCharCode(27);

async function mixed() {
  const hostile = failed({
    subject: 'shop/<web>&"x"',
    message: `Bad ${esc}[2J ]]> ${'long '.repeat(40)}end.`,
  });
  return reportOf([
    giving('SVC-KEK-001', hostile, { area: 'kek' }),
    giving('SVC-KEK-002', failed({ subject: 's', message: 'M.', level: 'warning' }), { area: 'kek' }),
    giving('SVC-CONFIG-001', passed('note')),
    giving('SVC-CONFIG-002', notEvaluated('It is away.', 'list pods')),
    giving('SVC-CONFIG-003', skipped('Nothing is there.')),
  ]);
}

test('a table fits 100 columns, and nothing in it reaches a terminal as a command', async () => {
  const text = tableReport(await mixed(), (_style, plain) => plain);
  assert.equal(
    text.split('\n').filter((line) => line.length > 100),
    [],
  );
  assert.not.ok(text.includes(esc));
  assert.match(text, /missing permission: list pods/);
  assert.match(text, /docs\/CHECKS\.md#svc-kek-001/);
  assert.match(
    tableReport(await mixed(), (style, plain) => `<${style}>${plain}`),
    /<red>error/,
  );
});

test('the short form is a line for each thing to look at', async () => {
  assert.equal(
    shortReport(await mixed())
      .split('\n')
      .slice(1),
    [
      'warning SVC-KEK-002 s: M.',
      'unknown SVC-CONFIG-002 It is away. (missing permission: list pods)',
      'skipped SVC-CONFIG-003 Nothing is there.',
      '5 checks: 1 passed, 1 error, 1 warning, 1 skipped, 1 could not be evaluated.',
      'Failed: There is 1 error (--fail-on error): SVC-KEK-001. Could not be evaluated: SVC-CONFIG-002.',
    ],
  );
});

test('JUnit has a suite an area and a case a check, and counts as the cases are', async () => {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  const xml = junitReport(await mixed(), 'error');
  assert.is(XMLValidator.validate(xml), true);
  const parser = new XMLParser({
    ...{
      ignoreAttributes: false,
      attributeNamePrefix: '',
      isArray: (name) => /^test(suite|case)$/.test(name),
    },
  });
  const { testsuites } = parser.parse(xml);
  assert.equal(
    testsuites.testsuite.map(({ name, tests, failures, errors, skipped: none }: Record<string, string>) => [
      ...[name, tests, failures, errors, none],
    ]),
    [
      ['kek', '2', '1', '0', '0'],
      ['configuration', '3', '0', '1', '1'],
    ],
  );
  assert.is(testsuites.failures, '1');
  const [kek] = testsuites.testsuite;
  assert.ok(kek.testcase[0].failure && kek.testcase[1]['system-out']);
  assert.match(junitReport(await mixed(), 'warning'), /tests="5" failures="2"/);
  assert.match(junitReport(await mixed(), 'none'), /tests="5" failures="0"/);
});

test('SARIF leads to the page of each check, and tells what was not found out', async () => {
  const [run] = JSON.parse(sarifReport(await mixed(), '1.0.0')).runs;
  for (const { id, helpUri } of run.tool.driver.rules)
    assert.match(helpUri, new RegExp(`^file:.*/docs/CHECKS\\.md#${id.toLowerCase()}$`));
  assert.equal(
    run.results.map(({ ruleId, level }: { ruleId: string; level: string }) => [ruleId, level]),
    [
      ['SVC-KEK-001', 'error'],
      ['SVC-KEK-002', 'warning'],
    ],
  );
  assert.is(run.invocations[0].executionSuccessful, false);
  assert.is(run.invocations[0].toolExecutionNotifications[0].associatedRule.id, 'SVC-CONFIG-002');
});

test.run();
