import { type NodeCheck, podsGone } from './bed.ts';
import { typePage } from './page.ts';

/** Of the types that the agent has; the node's systemd has others. */
const LIST_PROGRAMS = `bpftool prog list | grep -E '^[0-9]+: (lsm|tracing|tracepoint|raw_tracepoint) '`;

/** Nothing of it stays but what docs/INSTALL.md names, and then nothing. */
export const uninstallChart: NodeCheck = async (bed, report) => {
  const { kube, machine } = bed;
  await typePage(bed, report, 'uninstall');
  const pinned = (await machine.run('find /sys/fs/bpf/svc ! -type d')).stdout.trim();
  report.check('nothing stays pinned on the node', pinned === '', pinned);
  const programs = (await machine.run(LIST_PROGRAMS)).stdout.trim();
  report.check('no program of the agent stays loaded', programs === '', programs);
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
