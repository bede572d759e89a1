import { type Attempt, arm } from './attack.ts';
import type { Machine } from './plan.ts';
import { startRegistrar } from './registrar-place.ts';

/** A wrapper that is traced already when it registers: it has to be refused, and fetches no secret then. */
export async function registerTraced(machine: Machine, path: string, socket: string): Promise<Attempt> {
  const registrar = await startRegistrar(machine.registrar, socket);
  const armed = await arm(machine, path, { pid: registrar.pid, marker: 'not fetched yet' });
  try {
    const refused = await registrar.protect();
    const facts = { path, attacker: armed.pid, targets: [registrar.pid] };
    if (refused === undefined) return { ...facts, outcome: 'leaked', detail: 'it was registered' };
    return { ...facts, outcome: 'refused', errno: refused.status, detail: refused.message };
  } finally {
    await armed.end();
    await registrar.end();
  }
}
