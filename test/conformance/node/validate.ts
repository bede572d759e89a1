import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { NodeBed, NodeCheck } from './bed.ts';

const SVC = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

/** The lines of docs/INSTALL.md and docs/GETTING-STARTED.md. */
export const validates: NodeCheck = async (bed, report) => {
  const areas = AREAS.flatMap((area) => ['--area', area]);
  const { status, stdout, stderr } = await svcValidate(bed, '--wait', '5m', ...areas);
  report.check('svc validate passes on the cluster', status === 0, `${stdout}\n${stderr}`);
  const node = await bed.machine.run(ON_NODE);
  report.check('svc validate --node passes on the node', node.status === 0, `${node.stdout}\n${node.stderr}`);
};

/** Those of the cluster; of secrets server and store, this host does not know the names. */
const AREAS = ['cluster', 'operator', 'agent', 'egress'];

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
