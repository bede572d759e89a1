import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hostsAnnotation, type NetworkPolicy } from '../../../../../src/cluster/egress/contract.ts';
import { onTrust } from '../../../../../src/plugins/validate/areas/egress/names.ts';
import type { EgressOf } from '../../../../../src/plugins/validate/areas/egress/policies.ts';
import { passed } from '../../../../../src/plugins/validate/check.ts';
import { junitReport, shortReport, tableReport } from '../../../../../src/plugins/validate/output.ts';
import { checks, readIgnores } from '../../../../../src/plugins/validate/registry.ts';
import { makeReport } from '../../../../../src/plugins/validate/report.ts';
import { redacted } from '../../../../../src/plugins/validate/run-check.ts';

const test = suite('names that DNS does not know here');

const naming = (hosts: string | undefined) =>
  ({
    metadata: { annotations: hosts === undefined ? undefined : { [hostsAnnotation]: hosts } },
  }) as unknown as NetworkPolicy;

const told = (...policies: readonly (readonly [string | undefined, string | undefined])[]) =>
  onTrust(
    policies.map(
      ([here, noted]) => ({ wanted: [naming(here)], asNoted: [naming(noted)] }) as unknown as EgressOf,
    ),
  );

test('nothing is told where DNS gives all that a policy names', () => {
  for (const [here, noted] of [
    [undefined, undefined],
    ['a=192.0.2.1', 'a=192.0.2.1'],
    ['a=192.0.2.1,192.0.2.2', 'a=192.0.2.1'],
  ] as const)
    assert.is(told([here, noted]), undefined);
});

test('names of which a policy knows more addresses are told, each once, and many are counted', () => {
  const starts = (text: string | undefined, names: string) =>
    assert.ok(text?.startsWith(`Addresses of ${names} are those that the policies name`), text);
  starts(told([undefined, 'b=192.0.2.1 a=192.0.2.2']), 'a, b');
  starts(told(['a=192.0.2.1 b=192.0.2.2', 'a=192.0.2.1,192.0.2.9 b=192.0.2.2']), 'a');
  const many = 'a=::1 b=::1 c=::1 d=::1 e=::1 f=::1 g=::1';
  starts(told([undefined, many], [undefined, many]), 'a, b, c, d, e and 2 more');
});

test('the report shows what was believed, and the check has passed', () => {
  const check = checks.filter(({ id }) => id === 'SVC-EGRESS-001');
  const result = redacted(passed('1 namespace', 'Addresses of a are those of the policies.'));
  const report = makeReport(
    check.map((one) => ({ check: one, result })),
    'warning',
    readIgnores([], checks),
  );
  assert.is(report.outcome.exitStatus, 0);
  assert.is(report.checks[0]?.trusted, 'Addresses of a are those of the policies.');
  const text = tableReport(report, (_style, plain) => plain);
  assert.match(text, /^passed +SVC-EGRESS-001/m);
  assert.match(shortReport(report), /^trusted SVC-EGRESS-001 Addresses of a are/m);
  const junit = junitReport(report, 'warning');
  assert.match(
    junit,
    /<system-out>Not all of it was seen: Addresses of a are those of the policies\.<\/system-out>/,
  );
  assert.match(text, /Passed, but not all of it was seen:\nAddresses of a are those of the policies\. SVC-E/);
});

test.run();
