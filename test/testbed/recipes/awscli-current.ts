import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { takeFromWheel } from './python.ts';

/** Of the AWS CLI, and of the package for AWS Lambda that holds it: there is no package of version 2 alone. */
const VERSION = '2.38.5';
const REQUIREMENT =
  'aws-cdk-asset-awscli-v2==2.0.198 --hash=sha256:5887128f28f49fddb74b59e6dbb51764f7bb5587758982cd61a13b6d1f1228e6';
const FOLDER = `layer/awscli/v2/${VERSION}/dist`;

/** Takes the archive out of the archive of the package, and unpacks it. */
const EXTRACT = `
import glob, sys, sysconfig, tarfile, zipfile
[package] = glob.glob(sysconfig.get_path('purelib') + '/aws_cdk/asset_awscli_v2/_jsii/*.tgz')
with tarfile.open(package) as files, files.extractfile('package/lib/layer.zip') as layer:
    zipfile.ZipFile(layer).extractall(sys.argv[1] + '/layer')
`;

/** A current AWS CLI 2: Debian's is too old to send checksums by default. */
export const awscliCurrent: CachedRecipe = {
  kind: 'cached',
  version: VERSION,
  id: [REQUIREMENT, EXTRACT].join('\n'),
  bins: { aws: `${FOLDER}/aws` },
  async build(dir) {
    await takeFromWheel(dir, REQUIREMENT, (venv) => exec(join(venv, 'bin', 'python'), ['-c', EXTRACT, dir]));
    await chmod(join(dir, FOLDER, 'aws'), 0o755);
  },
};
