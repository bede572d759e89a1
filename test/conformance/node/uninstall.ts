import { type NodeCheck, podsGone } from './bed.ts';
import { typePage } from './page.ts';

/** Nothing of it stays but what docs/INSTALL.md names, and then nothing. */
export const uninstallChart: NodeCheck = async (bed, report) => {
  const { kube, machine } = bed;
  await typePage(bed, report, 'uninstall');
  const pinned = await machine.run('ls /sys/fs/bpf/svc 2>/dev/null | wc -l');
  report.check('no programs are left on the node', pinned.stdout.trim() === '0', pinned.stdout.trim());
  const hooks = await kube.kubectl(['get', 'mutatingwebhookconfigurations', '--output=name']);
  report.check('no webhook is left', !hooks.stdout.includes('svc'), hooks.stdout);
  const gone = await podsGone(bed, 'svc-system');
  report.check('no pod of the chart is left', gone);
  await typePage(bed, report, 'leftovers');
  const names = ['customresourcedefinitions', 'namespaces', 'networkpolicies', 'configmaps'].join();
  const left = await kube.kubectl(['get', names, '--all-namespaces', '--output=name']);
  const ours = left.stdout.split('\n').filter((name) => /svc[.-]/.test(name));
  report.check('nothing of it is left in the cluster', left.status === 0 && ours.length === 0, `${ours}`);
};
