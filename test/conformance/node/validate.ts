import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { NodeCheck } from './bed.ts';

const SVC = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

/** The lines of docs/INSTALL.md and docs/GETTING-STARTED.md. */
export const validates: NodeCheck = async (bed, report) => {
  const env = { KUBECONFIG: bed.kubeconfig, HOME: bed.folder };
  const args = [SVC, 'validate', '--wait', '5m'];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, bed.folder, {
    ...{ env, timeoutMs: 900_000 },
  });
  report.check('svc validate passes', status === 0, `${stdout}\n${stderr}`);
  const node = await bed.machine.run(ON_NODE);
  report.check('svc validate --node passes on the node', node.status === 0, `${node.stdout}\n${node.stderr}`);
};

/** The programs of the agent's container in the node's own namespaces, where a person would have installed them. */
const ON_NODE = [
  'root=/proc/$(pgrep --full "run agent" | head -1)/root',
  '$root/usr/local/bin/node $root/opt/svc/bin/run.js validate --node',
].join('; ');
