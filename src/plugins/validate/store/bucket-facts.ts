import {
  GetBucketPolicyStatusCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { BucketFacts } from './contract.ts';
import { statusOf } from './failure.ts';

/** Stores differ in what they know of this, so that a refusal is "not known". @throws where there is no answer */
export async function bucketFacts(
  client: S3Client,
  Bucket: string,
  abortSignal: AbortSignal,
): Promise<BucketFacts> {
  const [versioning, block, policy] = await Promise.all([
    known(client.send(new GetBucketVersioningCommand({ Bucket }), { abortSignal })),
    known(client.send(new GetPublicAccessBlockCommand({ Bucket }), { abortSignal })),
    known(client.send(new GetBucketPolicyStatusCommand({ Bucket }), { abortSignal })),
  ]);
  const rules = block?.PublicAccessBlockConfiguration;
  return {
    versioning: versioning && (versioning.Status ?? 'off'),
    blocksPublicAccess: rules && rules.RestrictPublicBuckets === true && rules.BlockPublicPolicy === true,
    isPublic: policy?.PolicyStatus?.IsPublic,
  };
}

async function known<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (statusOf(error) === undefined) throw error;
    return undefined;
  }
}
