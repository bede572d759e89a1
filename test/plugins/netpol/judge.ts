import type { PolicyPod } from '../../support/network-policy.ts';
import { runCommand } from '../../support/run-command.ts';
import { requireTool } from '../../testbed/ensure.ts';

/** Where a connection goes: an address, and the pod that has it. */
export interface Target {
  readonly ip: string;
  readonly to: PolicyPod | undefined;
}

export interface PolicyQuestion {
  readonly policies: readonly object[];
  readonly from: readonly PolicyPod[];
  readonly targets: readonly Target[];
  readonly ports: readonly number[];
  readonly protocols: readonly string[];
}

/** The verdicts of cyclonus: of each source to each target, on each port, by each protocol, the last varying fastest. */
export async function judge(questions: readonly PolicyQuestion[]): Promise<boolean[][]> {
  const { bins } = await requireTool('network-policy-judge');
  const input = questions.map((each) => JSON.stringify(asked(each))).join('\n');
  const program = bins['network-policy-judge'] as string;
  const { status, stdout, stderr } = await runCommand(program, [], process.cwd(), { input });
  const lines = stdout.trimEnd().split('\n');
  if (status !== 0 || lines.length !== questions.length) throw new Error(`The judge failed: ${stderr}`);
  return lines.map((line) => [...line].map((verdict) => verdict === '1'));
}

function asked({ policies, from, targets, ports, protocols }: PolicyQuestion) {
  return {
    policies,
    sources: from.map(plain),
    destinations: targets.map(({ ip, to }) => ({
      address: ip,
      ...(to && { pod: plain(to), portNames: namesByPort(to) }),
    })),
    ports,
    protocols,
  };
}

const plain = ({ namespace, labels }: PolicyPod) => ({ namespace, labels });

function namesByPort({ named }: PolicyPod): Record<string, string> {
  return Object.fromEntries(
    Object.entries(named).map(([key, port]) => {
      const [name = '', protocol] = key.split('/');
      return [`${port}/${protocol}`, name];
    }),
  );
}
