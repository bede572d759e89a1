import { type NodeCheck, podsGone } from './bed.ts';

/** Nothing of it stays but what docs/INSTALL.md names. */
export const uninstallChart: NodeCheck = async (bed, report) => {
  const { kube, machine, helm, kubeconfig } = bed;
  const removed = await helm.run(['uninstall', 'svc', '--namespace', 'svc-system'], kubeconfig);
  report.check('helm uninstalls the chart', removed.status === 0, removed.stderr.trim());
  const pinned = await machine.run('ls /sys/fs/bpf/svc 2>/dev/null | wc -l');
  report.check('no programs are left on the node', pinned.stdout.trim() === '0', pinned.stdout.trim());
  const hooks = await kube.kubectl(['get', 'mutatingwebhookconfigurations', '--output=name']);
  report.check('no webhook is left', !hooks.stdout.includes('svc'), hooks.stdout);
  const gone = await podsGone(bed, 'svc-system');
  report.check('no pod of the chart is left', gone);
};
