import { rules } from '../../../src/cluster/score/factors.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { code } from './cell.ts';

/** Where the points of each factor are usually lost. */
const lost: Readonly<Record<string, string>> = {
  wrapper: 'the pod is older than its ServiceConfig or opted out, or `svc/containers` omits a container',
  delivery: 'the environment delivers secrets: `svc/delivery: fd` and the SDK add the missing points',
  'memory-lock': 'not root, or a namespace at the level `baseline` or `restricted`',
  'secret-memory': 'the node has no `memfd_secret` (`secretmem.enable=1`), or no wrapper reported it',
  'core-dumps': 'the application raised the core dump limit',
  enforcement: 'no agent on the node, a kernel without BPF LSM and BTF, or `enforceMode: false`',
  coverage: 'no agent, or the pod lost its label',
  egress: "no policy, another owner's policy of the same name, or other policies that let the pod reach more",
  references: 'variables or volumes from Kubernetes Secrets',
  verification: '`VAULT_SKIP_VERIFY`',
};

/** What a score is made of, with the most points of each factor. @throws Error for a factor without a word here */
export function scoreTable(): string[] {
  const rows = rules.map(({ name, of }) => {
    const why = lost[name];
    if (why === undefined) throw new Error(`the factor ${name} is not explained`);
    return [code(name), String(of), why];
  });
  return markdownTable(['factor', 'of', 'where points are lost'], rows);
}
