import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootVm } from '../../../../support/vm/boot.ts';
import { guestProgram } from '../../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../../support/vm/package-files.ts';
import { MACHINES, type MachineName } from '../../../../support/vm/types.ts';

const longestMs = 400_000;
/** For a file that declares one. */
export const timeoutOfFile = longestMs + 20_000;

const program = `${PACKAGE}/test/guest.mjs`;
const source = fileURLToPath(new URL('./guest.ts', import.meta.url));

/** The wrapper that leaves, on a machine whose clock is set forth and back. */
export function declareOn(machine: MachineName): void {
  const { architecture, kernel } = MACHINES[machine];
  const test = suite(`the wrapper leaves on ${architecture}, Linux ${kernel}`);

  test('starts, renews, rotates, jumps of the clock or not, and ends', async () => {
    const { status, records, stdout, stderr } = await bootVm({
      machine,
      files: { [program]: await guestProgram(source) },
      script: `exec node ${program}`,
      timeoutMs: longestMs,
    });
    assert.is(status, 0, stderr + stdout);
    const of = (kind: string) => records.filter((record) => record['kind'] === kind);
    const [started] = of('started');
    assert.match(String(started?.['program']), new RegExp(`/init/${architecture}/svc-init$`));
    assert.ok(Number(started?.['privateDirty']) < 512, `${started?.['privateDirty']} KiB of its own`);
    assert.equal(
      of('health').map(({ body }) => JSON.parse(String(body)).status),
      ['ok'],
    );
    assert.is(of('rotated').length, 1);
    assert.equal(
      of('jumped').map(({ days, set, health }) => [days, set, JSON.parse(String(health)).status]),
      [1, -2, 1].map((days) => [days, 0, 'ok']),
    );
    const [end] = of('end');
    assert.equal([end?.['code'], end?.['failed']], [143, 0]);
    assert.match(String(end?.['metrics']), /^svc_wrapper_\S+ [1-9]/m);
  });

  test.run();
}
