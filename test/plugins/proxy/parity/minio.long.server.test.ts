import { sameAnswers } from './support/same-answers.ts';

sameAnswers('minio');
