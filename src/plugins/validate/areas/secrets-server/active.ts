import { failed, notEvaluated, passed } from '../../results.ts';
import { vaultCheck } from './vault-check.ts';

export const active = vaultCheck(
  {
    id: 'SVC-VAULT-003',
    title: 'Requests go to a node that serves them',
    level: 'info',
    cause:
      'The address leads to a standby, which passes requests on, or to a secondary for disaster recovery, which does not.',
    fix: 'Let the address lead to the active node, by the health check of the load balancer (sys/health).',
  },
  async ({ address, anonymous }, _context, signal) => {
    const { status } = await anonymous.ask({ method: 'GET', path: 'sys/health' }, signal);
    const subject = address.host;
    if (status === 200) return passed();
    if (status === 429 || status === 473) return failed({ subject, message: 'A standby answers.' });
    if (status === 472)
      return failed({ subject, level: 'error', message: 'A secondary for disaster recovery answers.' });
    return notEvaluated(`sys/health answers ${status}.`);
  },
);
