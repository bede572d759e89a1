/** Keys that break proxies which decode, normalise or sign them wrongly. */
const COMMON = [
  'w/ä +&%?=é',
  'two  spaces and + plus',
  'literal %2F and %20',
  'percent % alone',
  'NFC-\u00e9',
  'NFD-e\u0301',
  '"quoted" and \'single\'',
  '~tilde-_.!*()',
  'emoji-\u{1F511}\u{1F3F4}\u200d\u2620\ufe0f',
  'a=b&c=d;e,f:g@h$i',
  'hash#and?question',
  'back\\slash|pipe`tick^{}[]<>',
  '...',
  'UPPER and lower',
  'partNumber=1&uploadId=x',
  '漢字/かな/한국어',
];

/**
 * What each store keeps as it is. In versitygw keys are files: no empty components, no `f` beside `f/g` (which
 * MinIO does not list), nothing in an object whose key ends with a slash.
 */
export const FAITHFUL_KEYS: Readonly<Record<'versitygw' | 'minio', readonly string[]>> = {
  versitygw: COMMON,
  minio: [...COMMON, 'folder/'],
};

const COMPONENT = `${'long-'.repeat(40)}ä `;

/** 1,024 bytes, the most that S3 allows, in components that fit a file name. */
export const LONGEST_KEY = Array.from({ length: 5 }, () => COMPONENT)
  .join('/')
  .padEnd(1024 - 5, 'z');
