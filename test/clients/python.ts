import type { ClientRunOptions } from '../support/types.ts';
import { type Bed, BUCKET, ok } from './bed.ts';

const prelude = ({ marker }: Bed) => `
import base64, urllib.request, urllib.error, zlib
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError
B, MARKER, MiB = '${BUCKET}', b'${marker}', 1024 * 1024

def payload(n):
    block = MARKER + os.urandom(4096 - len(MARKER))
    return (block * (n // 4096 + 1))[:n]

def same(a, b, what=''):
    assert a == b, f'{what}: {str(a)[:300]} is not {str(b)[:300]}'

def refused(codes, call, status=None, **arguments):
    try:
        call(Bucket=B, **arguments)
    except ClientError as error:
        code = error.response['Error']['Code']
        assert code in codes.split('|'), f'{code}: {error}'
        got = error.response['ResponseMetadata']['HTTPStatusCode']
        assert status in (None, got), f'status {got}'
        return error.response
    raise AssertionError(f'not refused: {codes}')

def get(key, **arguments):
    return s3.get_object(Bucket=B, Key=key, **arguments)['Body'].read()

def put(key, body, **arguments):
    return s3.put_object(Bucket=B, Key=key, Body=body, **arguments)
`;

/** Runs a script with boto3 and these helpers against the proxy; what it prints. */
export async function python(bed: Bed, script: string, options?: ClientRunOptions): Promise<string> {
  return ok(await bed.clients.boto3(prelude(bed) + script, options));
}
