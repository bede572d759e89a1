import { fileURLToPath } from 'node:url';
import { requireTool } from '../../testbed/ensure.ts';
import type { Application } from './application.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const program = fileURLToPath(new URL('./S3aFiles.java', import.meta.url));

export const hadoop: Application = {
  ...{ name: 'hadoop', title: 'Hadoop S3A' },
  async prepare() {
    await Promise.all([requireTool('java'), requireTool('maven')]);
    return versionOf('hadoop-s3a');
  },
  async run(place) {
    const java = await commandOf('java');
    const jars = await commandOf('hadoop-s3a', 'jars');
    await runIn(place, java, ['-cp', `${jars}/*`, program], { env: { HADOOP_USER_NAME: 'hadoop' } });
  },
};
