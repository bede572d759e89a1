import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { ownGoTool, ownModule } from './own-go-tool.ts';

const NAME = 'cilium-policy-check';
const DEFINITION = 'ciliumnetworkpolicies.yaml';
const program = ownGoTool(NAME, '1.18.2');

/** Tells whether Cilium takes policies, by Cilium's own code; beside it Cilium's definition of the custom resource. */
export const ciliumPolicyCheck: CachedRecipe = {
  ...program,
  id: `${program.id}\n${DEFINITION}`,
  bins: { ...program.bins, definition: DEFINITION },
  async build(dir) {
    await program.build(dir);
    const where = ['list', '-m', '-f', '{{.Dir}}', 'github.com/cilium/cilium'];
    const source = (await exec('go', where, { cwd: ownModule(NAME) })).trim();
    const path = join(source, 'pkg/k8s/apis/cilium.io/client/crds/v2', DEFINITION);
    await copyFile(path, join(dir, DEFINITION));
  },
};
