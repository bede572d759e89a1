import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { argumentRoom } from '../../../src/runtime/native/own-process.ts';

const room = suite('room for arguments and environment');
const program = '/bin/true';

/** The errno of a start with these variables, or `started`. */
function start(env: Record<string, string>): string {
  const { error, status } = spawnSync(program, [], { env });
  if (error) return (error as NodeJS.ErrnoException).code ?? 'unknown';
  return status === 0 ? 'started' : `status ${status}`;
}

/** As many variables as take that many bytes, NULs and pointers included. */
function block(bytes: number): Record<string, string> {
  const each = 4096;
  const names = Array.from(
    { length: Math.floor(bytes / each) },
    (_, at) => `V${String(at).padStart(6, '0')}`,
  );
  return Object.fromEntries(names.map((name) => [name, 'x'.repeat(each - name.length - 2 - 8)]));
}

room('one string takes as much as the kernel says, and not a byte more', () => {
  const { string } = argumentRoom();
  assert.is(start({ A: 'x'.repeat(string - 3) }), 'started');
  assert.is(start({ A: 'x'.repeat(string - 2) }), 'E2BIG');
});

room('all together fit where it says so', () => {
  const { total } = argumentRoom();
  assert.is(start(block(total - 64)), 'started');
  assert.is(start(block(total + 64 * 1024)), 'E2BIG');
});

room('follows the stack limit between 128 KiB and 6 MiB', () => {
  const total = (stack: number) => argumentRoom(stack).total;
  assert.is(total(0), total(512 * 1024));
  assert.ok(total(1024 * 1024) > total(0));
  assert.is(total(Number.POSITIVE_INFINITY), total(24 * 1024 * 1024));
});

room.run();
