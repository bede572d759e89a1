import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { NodeBed, NodeCheck } from './bed.ts';
import { typePage } from './page.ts';

const SVC = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

/** As docs/INSTALL.md and docs/GETTING-STARTED.md say. */
export const validates: NodeCheck = async (bed, report) => {
  await typePage(bed, report, 'ready');
  const node = await bed.machine.run(ON_NODE);
  report.check('svc validate --node passes on the node', node.status === 0, `${node.stdout}\n${node.stderr}`);
};

/** The programs of the agent's container, copied to the node, as a person would install them there. */
const ON_NODE = [
  'root=/proc/$(pgrep --full "run agent" | head -1)/root',
  'mkdir -p /opt/installed && cp -r $root/opt/svc/. $root/usr/local/bin/node /opt/installed',
  '/opt/installed/node /opt/installed/bin/run.js validate --node; status=$?',
  'rm -r /opt/installed; exit $status',
].join('\n');

/** On this host, as the administrator of the cluster. */
export function svcValidate(
  { kubeconfig, folder }: NodeBed,
  ...options: string[]
): ReturnType<typeof runCommand> {
  const env = { KUBECONFIG: kubeconfig, HOME: folder };
  return runCommand(process.execPath, [SVC, 'validate', ...options], folder, { env, timeoutMs: 900_000 });
}
