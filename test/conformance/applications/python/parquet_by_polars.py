"""Parquet in one PUT and in parts; then the footer, one column, a slice, a filter, a glob."""

import os

import polars as pl

bucket = os.environ['BUCKET']
options = {
    'aws_endpoint_url': os.environ['AWS_ENDPOINT_URL'],
    'aws_access_key_id': os.environ['AWS_ACCESS_KEY_ID'],
    'aws_secret_access_key': os.environ['AWS_SECRET_ACCESS_KEY'],
    'aws_region': os.environ['AWS_REGION'],
    'aws_allow_http': 'true',
}


def frame(rows):
    numbers = pl.int_range(rows, eager=True)
    return pl.DataFrame({
        'id': numbers,
        'amount': numbers.map_elements(lambda n: (n * 7919) % 100_003 / 7, return_dtype=pl.Float64),
        'name': numbers.map_elements(lambda n: f'customer number {n * 2654435761 % 2**32:032b}',
                                     return_dtype=pl.String),
    })


def check(name, rows, group):
    path = f's3://{bucket}/{name}'
    whole = frame(rows)
    whole.write_parquet(path, storage_options=options, compression='uncompressed', row_group_size=group)
    lazy = pl.scan_parquet(path, storage_options=options)
    assert lazy.collect_schema() == whole.schema
    assert lazy.select(pl.len()).collect().item() == rows
    assert lazy.select('amount').collect().equals(whole.select('amount'))
    assert lazy.slice(rows // 2, 1000).collect().equals(whole.slice(rows // 2, 1000))
    last = lazy.filter(pl.col('id') >= rows - 10).collect()
    assert last.equals(whole.tail(10)), last
    assert pl.read_parquet(path, storage_options=options).equals(whole)
    return whole


small = check('small.parquet', 40_000, 10_000)
check('large.parquet', 400_000, 50_000)

for part in range(3):
    small.slice(part * 10_000, 10_000).write_parquet(f's3://{bucket}/many/{part}.parquet', storage_options=options)
many = pl.scan_parquet(f's3://{bucket}/many/*.parquet', storage_options=options).collect()
assert many.sort('id').equals(small.head(30_000))
small.lazy().sink_parquet(f's3://{bucket}/sunk.parquet', storage_options=options)
assert pl.read_parquet(f's3://{bucket}/sunk.parquet', storage_options=options).equals(small)
