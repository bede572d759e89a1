import type { CachedRecipe } from '../types.ts';
import { buildPython } from './python.ts';

const BOTO3 = '1.44.5';
const REQUIREMENTS = [
  `boto3==${BOTO3}`,
  `botocore==${BOTO3}`,
  'awscli==1.46.3',
  'colorama==0.4.6',
  'docutils==0.19',
  'jmespath==1.1.0',
  'pyasn1==0.6.5',
  'python-dateutil==2.9.0.post0',
  'PyYAML==6.0.3',
  'rsa==4.7.2',
  's3transfer==0.19.3',
  'six==1.17.0',
  'urllib3==2.8.0',
];

/**
 * Python with boto3 and a current AWS CLI version 1, called as `python -m awscli`:
 * scripts of an environment hold its absolute path and do not survive the rename.
 */
export const boto3: CachedRecipe = {
  kind: 'cached',
  version: BOTO3,
  id: REQUIREMENTS.join('\n'),
  bins: { python: 'bin/python' },
  build: (dir) => buildPython(dir, REQUIREMENTS, 'boto3, awscli'),
};
