import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import type { Stoppable } from '../../../../support/types.ts';
import { privateFileSystem } from '../../bpf/private-file-system.ts';
import { buildGoDemo } from './go-demo.ts';
import type { Machine } from './machine.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** This machine, whose kernel gives tier 3. */
export async function thisMachine(): Promise<Machine & Stoppable> {
  const folder = temporaryFolder('wrapper-programs');
  const [bypass, goDemo] = [await buildBypass(folder.path), await buildGoDemo(folder.path)];
  const files = privateFileSystem();
  return {
    ...{ bypass, goDemo, bpfFolder: join(files.path, 'svc'), tier: 3 },
    wrapper: [process.execPath, path('../../../../../bin/svc-wrapper.js')],
    application: [process.execPath, path('../fixtures/application.ts')],
    async stop() {
      files.remove();
      await folder.remove();
    },
  };
}
