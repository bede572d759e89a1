/** What buckets keep, remembered for a short time. */
export interface BucketFacts {
  /** `yes` also where versioning is suspended: older versions are still there. `unknown` when the store does not tell. */
  keepsVersions(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** The same, asked anew: `no` holds for all that was done before, because versioning is never turned off again. */
  keepsVersionsNow(bucket: string): Promise<'yes' | 'no' | 'unknown'>;
  /** True when the bucket has object lock, and when the store does not tell. */
  locked(bucket: string): Promise<boolean>;
}
