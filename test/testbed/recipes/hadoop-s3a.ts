import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { ownModule } from './own-go-tool.ts';

const POM = join(ownModule('hadoop-s3a'), 'pom.xml');
const TEXT = readFileSync(POM, 'utf8');
const GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** The folder of Hadoop's jars; programs start by `java -cp 'jars/*'`. */
export const hadoopS3a: CachedRecipe = {
  kind: 'cached',
  version: /<hadoop>(.*)<\/hadoop>/.exec(TEXT)?.[1] ?? 'unknown',
  id: [TEXT, GOAL].join('\n'),
  bins: { jars: 'jars' },
  async build(dir) {
    await copyFile(POM, join(dir, 'pom.xml'));
    const goal = ['--quiet', '--batch-mode', GOAL, '-DincludeScope=runtime', '-DoutputDirectory=jars'];
    await exec('mvn', goal, { cwd: dir });
  },
};
