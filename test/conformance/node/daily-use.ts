import { readFileSync } from 'node:fs';
import { launchReady } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { http } from '../../support/http.ts';
import { freePort } from '../../support/ports.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { comesAbout, type NodeBed, type NodeCheck, readyPods } from './bed.ts';
import { IMAGE, LEVELS, type Level } from './shop.ts';

/** What people do to pods all day, which protection leaves alone. */
export const dailyUse: NodeCheck = async (bed, report) => {
  for (const level of LEVELS) {
    const [pod] = await readyPods(bed, level, 'app=shop');
    const name: string = pod.metadata.name;
    const at = ['--namespace', level];
    const inside = (...command: string[]) =>
      bed.kube.kubectl(['exec', ...at, name, '--container=shop', '--', ...command]);
    const shown = await inside('cat', '/www/index.html');
    report.check(`${level}: kubectl exec`, shown.stdout === 'open\n', shown.stderr.trim());
    const list = await inside('ps');
    report.check(`${level}: kubectl exec ps`, /httpd/.test(list.stdout), list.stderr.trim());
    const copy = `${bed.folder}/copy-${level}`;
    const got = await bed.kube.kubectl(['cp', ...at, '--container=shop', `${name}:/www/index.html`, copy]);
    const copied = got.status === 0 && readFileSync(copy, 'utf8') === 'open\n';
    report.check(`${level}: kubectl cp`, copied, got.stderr.trim());
    const page = await forwarded(bed, level, name);
    report.check(`${level}: kubectl port-forward`, page === 'open\n', page.trim());
    report.check(`${level}: kubectl debug`, await debugged(bed, level, name));
    const [{ status }] = await readyPods(bed, level, 'app=shop');
    const restarts = status.containerStatuses.map((one: { restartCount: number }) => one.restartCount);
    report.check(
      `${level}: probes have not failed`,
      restarts.every((count: number) => count === 0),
      `${restarts}`,
    );
  }
};

/** What the shop serves through a port of this host. */
async function forwarded(bed: NodeBed, namespace: string, pod: string): Promise<string> {
  const { bins } = await requireTool('kubernetes');
  const port = await freePort();
  const command = [
    ...[bins.kubernetes as string, 'kubectl', '--kubeconfig', bed.kubeconfig, '--namespace', namespace],
    ...['port-forward', `pod/${pod}`, `${port}:8000`],
  ];
  const options = { env: cleanEnv({ HOME: bed.folder }) };
  const isUp = (child: { logs(): string }) => child.logs().includes('Forwarding from');
  const { child } = await launchReady('kubectl port-forward', command, options, isUp, 300_000);
  try {
    return (await http(`http://127.0.0.1:${port}/`)).text;
  } finally {
    await child.end('SIGINT');
  }
}

/** What `kubectl debug` asks for where a level admits it; `restricted` cannot run as root, as the privileged shop does. */
const PROFILES: Readonly<Record<Level, string>> = {
  restricted: 'restricted',
  baseline: 'baseline',
  privileged: 'general',
};

/** An ephemeral container starts beside the shop, and sees its processes. */
async function debugged(bed: NodeBed, namespace: Level, pod: string): Promise<boolean> {
  const at = ['--namespace', namespace];
  const { status, stderr } = await bed.kube.kubectl([
    ...['debug', ...at, pod, '--image', IMAGE, '--target=shop', '--container=debugger'],
    ...[`--profile=${PROFILES[namespace]}`, '--', 'ps'],
  ]);
  if (status !== 0) throw new Error(stderr);
  return comesAbout(bed, namespace, 'the output of kubectl debug', async () => {
    const { stdout } = await bed.kube.kubectl(['logs', ...at, pod, '--container=debugger']);
    return /httpd/.test(stdout);
  });
}
