import { compileFuzz } from '../init/compile.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { Part } from './part.ts';

const cases = 10_000_000;

/** What svc-init reads, under the sanitizers. */
export const initFuzz: Part = {
  name: 'init-fuzz',
  summary: 'ten million health requests, records and launch regions given to svc-init, with sanitizers',
  async run(report, { seed }) {
    const folder = temporaryFolder('init-fuzz');
    try {
      const { status, stdout, stderr } = await (await compileFuzz(folder.path))(cases, seed);
      report.check(`seed ${seed}`, status === 0 && stdout === `${cases} cases\n`, stdout.trim() || stderr);
    } finally {
      await folder.remove();
    }
  },
};
