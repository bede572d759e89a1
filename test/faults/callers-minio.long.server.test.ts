import { testCallersThatGoAway } from './support/callers-suite.ts';

testCallersThatGoAway('minio');
