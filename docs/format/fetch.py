#!/usr/bin/env python3
"""Copies the stored objects of a bucket, with their metadata, into a folder that read.py takes. Needs boto3.

  fetch.py BUCKET DIR [--endpoint-url URL] [--prefix PREFIX]

Credentials and region come from where the AWS tools find them. PREFIX must not leave out the manifests (.svc/) of objects
in parts, so they are copied in any case.
"""
import argparse, hashlib, json, os
import boto3
from botocore.config import Config

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('bucket')
parser.add_argument('folder')
parser.add_argument('--endpoint-url')
parser.add_argument('--prefix', default='')
parser.add_argument('--manifests', default='.svc/manifests/', help='where they begin, if not there')
options = parser.parse_args()

# the store's bytes as they are: path style, and no checksums that a store may not know
config = Config(s3={'addressing_style': 'path'}, response_checksum_validation='when_required')
s3 = boto3.client('s3', endpoint_url=options.endpoint_url, config=config)
os.makedirs(options.folder, exist_ok=True)
for prefix in dict.fromkeys([options.prefix, options.manifests]):
    for page in s3.get_paginator('list_objects_v2').paginate(Bucket=options.bucket, Prefix=prefix):
        for key in (entry['Key'] for entry in page.get('Contents', [])):
            answer = s3.get_object(Bucket=options.bucket, Key=key)
            name = hashlib.sha256(json.dumps([options.bucket, key]).encode()).hexdigest()
            with open(os.path.join(options.folder, f'{name}.body'), 'wb') as file:
                for chunk in answer['Body'].iter_chunks(1024 * 1024): file.write(chunk)
            described = {'bucket': options.bucket, 'key': key, 'metadata': answer['Metadata'], 'file': f'{name}.body'}
            with open(os.path.join(options.folder, f'{name}.json'), 'w', encoding='utf-8') as file:
                json.dump(described, file, ensure_ascii=False, indent=1)
