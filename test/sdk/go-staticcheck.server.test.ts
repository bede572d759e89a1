import { suite } from 'uvu';
import { attempt, go, requireGo } from '../support/go.ts';

const staticcheck = ['tool', '-modfile=tools.mod', 'staticcheck'];

/** The first time on a machine it is compiled. */
export const timeout = 400_000;

await requireGo();
await attempt('staticcheck', () => go([...staticcheck, '-version']));

const test = suite('sdk go staticcheck');

test('staticcheck finds nothing, on Linux and as on another system', async () => {
  await go([...staticcheck, './...']);
  await go([...staticcheck, '-tags', 'svc_nonlinux', './...']);
});

test.run();
