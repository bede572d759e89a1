import { yamlDocuments } from '../../../src/plugins/netpol/index.ts';
import { runCommand } from '../../support/run-command.ts';
import { requireTool } from '../../testbed/ensure.ts';

/** What Cilium makes of a policy. */
export interface CiliumAnswer {
  /** Why it is refused; empty: it is not. */
  readonly error: string;
  /** Whether the pods that it selects reach nothing else, and are reached by nobody else. */
  readonly deniesEgress: boolean;
  readonly deniesIngress: boolean;
}

/** Has Cilium's own code read the policies as `svc netpol` prints them, and tell what it makes of each. */
export async function askCilium(policies: readonly object[]): Promise<CiliumAnswer[]> {
  const { bins } = await requireTool('cilium-policy-check');
  const program = bins['cilium-policy-check'] as string;
  const input = yamlDocuments(policies);
  const { status, stdout, stderr } = await runCommand(program, [], process.cwd(), { input });
  const answers = stdout
    .split('\n')
    .filter(Boolean)
    .map((line): CiliumAnswer => JSON.parse(line));
  if (status !== 0 || answers.length !== policies.length) throw new Error(`It has not answered: ${stderr}`);
  return answers;
}
