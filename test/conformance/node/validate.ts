import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { NodeCheck } from './bed.ts';

const SVC = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

/** The lines of docs/INSTALL.md. */
export const validates: NodeCheck = async (bed, report) => {
  const env = { KUBECONFIG: bed.kubeconfig, HOME: bed.folder };
  const args = [SVC, 'validate', '--wait', '5m'];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, bed.folder, {
    ...{ env, timeoutMs: 600_000 },
  });
  report.check('svc validate passes', status === 0, `${stdout}\n${stderr}`);
};
