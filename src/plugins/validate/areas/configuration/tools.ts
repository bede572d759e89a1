import type { Check } from '../../contract.ts';
import { verdict } from '../../results.ts';

const wanted = [
  {
    name: 'kubectl',
    message: 'It is not in PATH; svc needs it not, but you will, to apply what svc netpol writes.',
  },
  { name: 'helm', message: 'It is not in PATH; the operator can also be installed by manifests/plain.' },
];

export const tools: Check = {
  ...{ id: 'SVC-CONFIG-009', area: 'configuration', level: 'info', needs: 'none' },
  title: 'Tools for the cluster are installed',
  cause: 'They were not installed on this machine, or stand elsewhere than in PATH.',
  fix: 'Install kubectl and Helm 3, where this machine is to work with the cluster.',
  async run({ host }) {
    const missing = wanted.filter(({ name }) => !host.hasProgram(name));
    return verdict(missing.map(({ name, message }) => ({ subject: name, message })));
  },
};
