#!/usr/bin/env python3
"""Reads objects that `svc run proxy` has encrypted, without any code of svc: written from docs/FORMAT.md alone.
  read.py PATH… --to DIR [--keys transit-key.json… | --recovery-key FILE]
PATH is a JSON file of stored objects, or a folder in which such files lie ("Stored objects as files" in FORMAT.md). Keys
are unwrapped by the key server at VAULT_ADDR with VAULT_TOKEN, by exported transit keys, or opened by recovery keys. Needs
Python 3.9 and the package `cryptography`, for recovery keys one that has HPKE. Ends with 0: all were read; 1: some were
refused; 2: called wrongly, or the key server failed."""
import argparse, base64, hashlib, hmac, io, itertools, json, os, re, sys, tempfile, urllib.parse, urllib.request, zlib
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE, TAG, OVERHEAD, SEGMENT, MOST_PARTS, MIB = 12, 16, 28, 65536, 10_000, 1024 * 1024
FORMATS = {'AES-256-GCM': 1, 'AES-256-GCM-STREAM-64KiB': 2}
ALGORITHMS = 'crc32 crc32c crc64nvme sha1 sha256 sha512 md5 xxhash64 xxhash3 xxhash128'.split()

class Refused(Exception):  # The object is not what svc wrote: one of the reasons in FORMAT.md, and what is wrong
    def __init__(self, reason, detail): super().__init__(f'{reason}: {detail}')
class Failed(Exception): """Nothing can be said about any object."""
def expect(holds, reason, detail):
    if not holds: raise Refused(reason, detail)

# Forms: for each member a check of its value.
def text(pattern): return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII)
def whole(least, most): return lambda value: type(value) is int and least <= value <= most
def check_form(what, value, needed, optional={}, reason='malformed-metadata'):
    expect(isinstance(value, dict), reason, what)
    for name, check in {**needed, **optional}.items():
        if name in needed or name in value: expect(check(value.get(name)), reason, f'{name} of {what}')
def read_form(what, data, needed):
    try: value = json.loads(data)
    except (ValueError, RecursionError): raise Refused('malformed-metadata', f'{what} is not JSON')
    check_form(what, value, needed)
    return value

TEXT, SALT = text('(?s:.*)'), '[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]'
COPIED = rf'({SALT})\.(0|[1-9][0-9]{{0,4}})\.(0|[1-9][0-9]{{0,4}})\.([01])\.([\w-]{{64}})'  # a body from another object
WRAPPED = text('(?=.{1,1023}$)vault:v([1-9][0-9]{0,9}):[A-Za-z0-9+/]+={0,2}')
REQUIRED = {'encrypted': text('true'), 'wrapped-dek': TEXT, 'algorithm': FORMATS.get, 'key-name': TEXT, 'key-version': TEXT}
OPTIONAL = {'binding': text('key|bucket-key'), 'empty-seal': text('[A-Za-z0-9+/]{38}=='),
            'checksum': text(r'([a-z0-9]{1,20})\.(?:full|composite)(?:\.([A-Za-z0-9_-]{1,200}))?'),
            'derivation': text(rf'({SALT})\.({SALT})'), 'recovery': text(r'[\w-]{107}(\.[\w-]{107}){0,7}')}
POINTER = {format: {'v': whole(format, format), 'manifest': text('[A-Za-z0-9_-]{22}'), 'seal': WRAPPED} for format in (1, 2)}
LIST = {'mac': TEXT, 'parts': lambda value: isinstance(value, list) and 1 <= len(value) <= MOST_PARTS}
PART = {1: {'nonce': text('[A-Za-z0-9+/]{16}'), 'dek': WRAPPED}, 2: {'salt': text(f'{SALT}|{COPIED}')}}
RECORD = {'keyName': TEXT, 'keys': lambda value: isinstance(value, dict) and all(map(WRAPPED, value.values()))}
def check_list(value, format):
    check_form('the part list', value, {**POINTER[format], **LIST}, {'sum': text('[A-Za-z0-9_-]{1,200}')})
    for part, before in zip(value['parts'], [{'n': 0}, *value['parts']]):
        place = {'n': whole(before['n'] + 1, MOST_PARTS), 'size': whole(0, 2 ** 53 - 1)}
        check_form('a part', part, {**place, **PART[format]}, {'recovery': text(r'[\w-]{80}')} if format == 1 else {})

def json_text(value): return json.dumps(value, ensure_ascii=False, separators=(',', ':'))
def from_base64(value):  # Of either alphabet. What has no such length becomes nothing, which no tag verifies
    try: return base64.urlsafe_b64decode(value + '=' * (-len(value) % 4))
    except ValueError: return b''
def stored_size(format, size): return size + (TAG * -(-size // SEGMENT) if format == 2 else OVERHEAD)
def opened(key, data, associated=None, reason='authentication-failed'):  # nonce ‖ ciphertext ‖ tag
    try: return AESGCM(key).decrypt(data[:NONCE], data[NONCE:], associated)
    except (InvalidTag, ValueError): raise Refused(reason, 'a tag does not verify')
def unsealed(key, label, value, context, reason):  # What is sealed under a key of the object, in base64url
    derived_key = hmac.digest(key, label.encode() + b'\x01', 'sha256')
    return opened(derived_key, from_base64(value), f'{label}\n{context}\n'.encode(), reason)
def derived(dek, salt, info):  # HKDF-SHA-512, 32 bytes
    return hmac.digest(hmac.digest(salt, dek, 'sha512'), info.encode() + b'\x01', 'sha512')[:32]
def opened_segments(dek, told, part, data):  # A body of format 2, by its salt as it stands in metadata or list
    salt, *copied = told.split('.')
    key, first, ends, step = derived(dek, from_base64(salt), f'svc/2/key\n{part}\n'), 0, 1, SEGMENT + TAG
    if copied:
        sealing = derived(dek, from_base64(salt), f'svc/2/copied\n{part}\n')
        key = opened(sealing, bytes(NONCE) + from_base64(copied.pop()), f'svc/2/copied\n{" ".join(copied)}\n'.encode())
        part, first, ends = map(int, copied)
    for index, start in enumerate(range(0, len(data), step)):
        nonce = (first + index).to_bytes(11, 'big') + bytes([ends and start + step >= len(data)])
        associated = b'svc/2\n' + part.to_bytes(2, 'big') + (first + index).to_bytes(8, 'big')
        yield opened(key, nonce + data[start:start + step], associated)

class Crc32:
    def __init__(self, data=b''): self.value = zlib.crc32(data)
    def update(self, data): self.value = zlib.crc32(data, self.value)
    def digest(self): return self.value.to_bytes(4, 'big')
HASHES, COMPOSITE = {1: Crc32, 4: hashlib.sha1, 5: hashlib.sha256, 6: hashlib.sha512, 7: hashlib.md5}, 0x80
def compared(bodies, key, bound_to, sealed):
    """Passes the plaintext of each body on; raises Refused at the end of those that have not the checksum kept."""
    number, *digest = sealed and unsealed(key, 'svc/whole-checksum/1', sealed, bound_to, 'record-forged') or b'\0'
    create = HASHES.get(number & ~COMPOSITE)
    if create is None: return (yield from bodies)  # none, or none that the standard library of Python can calculate
    running = create()
    for body in bodies:
        running.update(create(body).digest() if number & COMPOSITE else body)
        yield body
    expect(running.digest() == bytes(digest), 'wrong-checksum', 'the plaintext has another checksum')

class ExportedKeys:  # Transit keys in the clear, as GET transit/export/encryption-key/<name> gives them
    def __init__(self, paths):
        self.keys = {}
        for path in paths:
            with open(path, encoding='utf-8') as file: data = json.load(file)['data']
            if data.get('type') != 'aes256-gcm96': raise Failed(f'{path}: not a key of type aes256-gcm96')
            self.keys[data['name']] = {int(n): base64.b64decode(key) for n, key in data['keys'].items()}
    def unwrap(self, key_name, wrapped, binding):
        expect(key_name in self.keys, 'foreign-key', f'transit key {key_name!r} is not at hand')
        _, version, payload = wrapped.split(':')
        key = self.keys[key_name].get(int(version[1:]), b'')  # of an unknown version none, which opens nothing
        return opened(key, from_base64(payload), binding and binding.encode(), 'key-refused')

class KeyServer:  # Transit of OpenBao or Vault
    def __init__(self, mount, key_name, env):
        self.key_name = key_name
        self.url = f'{env["VAULT_ADDR"].rstrip("/")}/v1/{mount}/decrypt/{urllib.parse.quote(key_name, safe="")}'
        self.headers = {'X-Vault-Token': env['VAULT_TOKEN'], 'X-Vault-Namespace': env.get('VAULT_NAMESPACE', ''),
                        'Content-Type': 'application/json'}
    def unwrap(self, key_name, wrapped, binding):
        expect(key_name == self.key_name, 'foreign-key', f'transit key {key_name!r} is not used')
        body = {'ciphertext': wrapped}
        if binding is not None: body['associated_data'] = base64.b64encode(binding.encode()).decode()
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer: data = json.load(answer)['data']
            return base64.b64decode(data['plaintext'])
        except Exception as error:  # Of the network, or an answer that is none; only an HTTPError has a code
            if getattr(error, 'code', None) == 400: raise Refused('key-refused', error.read(2000).decode(errors='replace'))
            raise Failed(f'the key server: {error}')

class RecoveryKeys:  # X25519 keys of a file as age writes them: AGE-SECRET-KEY-1…, one a line
    def __init__(self, path):
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
        self.suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
        with open(path, encoding='ascii') as file: lines = [line.strip() for line in file]
        self.keys = [X25519PrivateKey.from_private_bytes(raw_key(line)) for line in lines if line and line[0] != '#']
    def open(self, blobs, binding):
        for blob, key in itertools.product((blobs or '').split('.'), self.keys):
            try: return self.suite.decrypt(from_base64(blob), key, b'svc/recovery/1\n' + binding.encode())
            except (InvalidTag, ValueError): pass  # for another recipient
        raise Refused('not-recoverable', 'none of the keys opens it')
BECH32, GENERATOR = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l', (0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3)
IDENTITY = text(f'age-secret-key-1[{BECH32}]{{58}}|AGE-SECRET-KEY-1[{BECH32.upper()}]{{58}}')
def raw_key(line):  # Bech32 (BIP 173): 32 bytes in 52 groups of five bits, and a checksum of six groups
    if not IDENTITY(line): raise Failed('a line that is no age identity')
    prefix, groups, checksum = b'age-secret-key-', [BECH32.index(letter) for letter in line.lower()[16:]], 1
    for value in [*(letter >> 5 for letter in prefix), 0, *(letter & 31 for letter in prefix), *groups]:
        high, checksum = checksum >> 25, (checksum & 0x1ffffff) << 5 ^ value
        for bit, term in enumerate(GENERATOR): checksum ^= term * (high >> bit & 1)
    number, spare = divmod(int(''.join(f'{group:05b}' for group in groups[:52]), 2), 16)
    if checksum != 1 or spare: raise Failed('an age identity with another checksum: is it complete, and typed as it was?')
    return number.to_bytes(32, 'big')

class Stored:  # One stored object; its body is read as it is needed
    def __init__(self, value, path):
        texts = lambda member: isinstance(member, dict) and all(map(TEXT, member.values()))
        check_form(path, value, {'bucket': TEXT, 'key': TEXT}, {'metadata': texts, 'file': TEXT, 'body': TEXT}, 'no-object')
        self.bucket, self.key, self.headers = value['bucket'], value['key'], {}
        for name, content in value.get('metadata', {}).items():
            name = name.lower().removeprefix('x-amz-meta-')
            self.headers[name] = None if name in self.headers else content  # twice: no text
        self.path = os.path.join(os.path.dirname(path), value['file']) if 'file' in value else None
        self.bytes = None if self.path else base64.b64decode(value['body'])
        self.size = os.path.getsize(self.path) if self.path else len(self.bytes)
    def read(self, offset=0, length=-1):
        with open(self.path, 'rb') if self.path else io.BytesIO(self.bytes) as file:
            file.seek(offset)
            return file.read(length)

def load(paths):
    for path in paths:
        found = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names] or [path]
        for file in sorted(name for name in found if name.endswith('.json')):
            with open(file, encoding='utf-8') as json_file: value = json.load(json_file)
            objects = isinstance(value, dict) and value.get('objects')
            yield from (Stored(one, file) for one in (objects if isinstance(objects, list) else [value]))

class Reader:
    def __init__(self, store, keys, options):
        self.store = {(stored.bucket, stored.key): stored for stored in store}
        self.keys, self.options = keys, options
    def plaintext(self, stored):  # Yields the plaintext, each body after its tags have verified. Raises Refused
        headers = {name: stored.headers[f'svc-{name}'] for name in [*REQUIRED, *OPTIONAL] if f'svc-{name}' in stored.headers}
        expect(headers or not self.options.encrypted_only, 'unencrypted', 'no svc metadata')
        if not headers: return (yield stored.read())
        check_form('the metadata', headers, dict.fromkeys(REQUIRED, TEXT), reason='partial-metadata')
        check_form('the metadata', headers, REQUIRED, OPTIONAL)
        format, single = FORMATS[headers['algorithm']], bool(WRAPPED(headers['wrapped-dek']))
        keys = {} if single else read_form('wrapped-dek', headers['wrapped-dek'], POINTER[format])
        if 'parts' in keys: check_list(keys, format)
        wrapped = keys.get('seal', headers['wrapped-dek'])
        expect(headers['key-version'] == WRAPPED(wrapped)[1], 'malformed-metadata', 'key-version')
        own = {1: 'empty-seal', 2: 'derivation'}[format] if single else None
        expect(own in headers or own != 'derivation', 'partial-metadata', 'derivation')
        expect(not {'empty-seal', 'derivation'} & headers.keys() - {own}, 'malformed-metadata', 'of another form')
        kept = OPTIONAL['checksum'](headers.get('checksum'))
        sealed = kept[2] if kept and kept[1] in ALGORITHMS else None
        expect(not kept or kept[1] not in ALGORITHMS or single == bool(sealed), 'malformed-metadata', 'checksum')
        unwrap = lambda wrapped, *purpose: self.unwrap(stored, headers, format, wrapped, purpose)
        if single: yield from self.one_body(stored, headers, lambda: unwrap(wrapped, 'object'), sealed)
        else: yield from self.parts(stored, keys if 'parts' in keys else self.manifest(stored, keys, format), unwrap)
    def one_body(self, stored, headers, unwrap, sealed):
        if 'derivation' in headers:
            size = stored.size - TAG * -(-stored.size // (SEGMENT + TAG))
            expect(stored_size(2, size) == stored.size, 'wrong-size', 'no body has this length')
            salt, commitment = headers['derivation'].split('.')
            dek = unwrap()
            proof = derived(dek, from_base64(salt), f'svc/2/commitment\n0\n{size}\n')
            expect(hmac.compare_digest(proof, from_base64(commitment)), 'wrong-commitment', 'of another key, salt or length')
            plain = b''.join(opened_segments(dek, salt, 0, stored.read()))
        else:
            seal = from_base64(headers.get('empty-seal', ''))
            expect(stored.size == 0 if seal else stored.size >= OVERHEAD, 'wrong-size', f'{stored.size} bytes')
            dek = unwrap()
            plain = opened(dek, seal or stored.read())
        yield from compared([plain], dek, len(plain), sealed)
    def manifest(self, stored, pointer, format):
        value = self.helper(stored, 'manifests', pointer['manifest'], {}, 'manifest-forged')
        expect(value, 'manifest-missing', pointer['manifest'])
        check_list(parts := value.get('list'), format)
        expect(all(parts[name] == pointer[name] for name in ('manifest', 'seal')), 'manifest-forged', 'of another upload')
        return parts
    def helper(self, stored, kind, id, members, forged):  # A manifest or a record of rewrapped keys, where there is one
        name = hashlib.sha256(json_text([stored.bucket, stored.key]).encode()).hexdigest()
        key = f'{self.options.reserved_prefix}{kind}/{name}/{id}'
        if not (found := self.store.get((self.options.state_bucket or stored.bucket, key))): return None
        expect(found.size <= 8 * MIB, 'malformed-metadata', f'too long, in {kind}')
        value = read_form(f'a text in {kind}', found.read(), {'v': whole(1, 1), 'bucket': TEXT, 'key': TEXT, **members})
        expect([value['bucket'], value['key']] == [stored.bucket, stored.key], forged, 'of another object')
        return value
    def unwrap(self, stored, headers, format, wrapped, purpose):
        mode = headers.get('binding')
        bound_to = ['svc', format, stored.bucket if mode == 'bucket-key' else None, stored.key if mode else None]
        binding = json_text([*bound_to, *purpose]) if mode or format == 2 else None
        if isinstance(self.keys, RecoveryKeys): return self.keys.open(headers.get('recovery'), binding or json_text(purpose))
        try: key = self.keys.unwrap(headers['key-name'], wrapped, binding)
        except Refused:
            id = purpose[1] if purpose[1:] else hashlib.sha256(wrapped.encode()).hexdigest()
            if not (record := self.helper(stored, 'rewraps', id, RECORD, 'record-forged')): raise
            key = self.keys.unwrap(record['keyName'], record['keys'].get(str((purpose[2:] or purpose)[0]), wrapped), binding)
        expect(len(key) == 32, 'malformed-metadata', 'a key is not 32 bytes long')
        return key
    def parts(self, stored, value, unwrap):
        format, upload, parts = value['v'], value['manifest'], value['parts']
        expect(sum(stored_size(format, part['size']) for part in parts) == stored.size, 'wrong-size', 'not as the list says')
        entries = (' '.join(str(part[name]) for name in ('n', 'size', *PART[format])) for part in parts)
        key = unwrap(value['seal'], 'seal', upload)
        seal_key = derived(key, upload.encode(), 'svc/2/seal\n') if format == 2 else key
        lines = ''.join(f'{line}\n' for line in (f'svc/{format}', upload, len(parts), *entries))
        mac = base64.b64encode(hmac.digest(seal_key, lines.encode(), 'sha256'))
        expect(hmac.compare_digest(mac, value['mac'].encode(errors='replace')), 'manifest-forged', 'the seal of the list')
        yield from compared(self.bodies(stored, value, key, unwrap), seal_key, value['mac'], value.get('sum'))
    def bodies(self, stored, value, key, unwrap):
        offset, upload = 0, value['manifest']
        for part in value['parts']:
            n, body = part['n'], stored.read(offset, stored_size(value['v'], part['size']))
            offset += len(body)
            if value['v'] == 2: yield b''.join(opened_segments(key, part['salt'], n, body))
            else:
                expect(body[:NONCE] == from_base64(part['nonce']), 'authentication-failed', 'a part with another nonce')
                if isinstance(self.keys, RecoveryKeys):
                    dek = unsealed(key, 'svc/recovery-part/1', part.get('recovery', ''), f'{upload} {n}', 'not-recoverable')
                else: dek = unwrap(part['dek'], 'part', upload, n)
                yield opened(dek, body)

def file_name(name):  # Plain, so that nothing leads out of the folder
    quoted = urllib.parse.quote(name, safe=" !#$&'()+,;=@[]{}~^`-_.")
    if quoted.strip('.') == '': return quoted.replace('.', '%2E') or '%'
    return quoted if len(quoted) <= 255 else '%sha256-' + hashlib.sha256(quoted.encode()).hexdigest()
def place(folder, stored): return os.path.join(folder, *map(file_name, [stored.bucket, *stored.key.split('/')]))
def write(path, pieces):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path), prefix='.svc-part-') as folder:
        with open(os.path.join(folder, 'plaintext'), 'wb', opener=lambda *how: os.open(*how, 0o600)) as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('paths', nargs='+', metavar='PATH')
    parser.add_argument('--to', required=True, metavar='DIR')
    parser.add_argument('--keys', action='append', metavar='FILE', help='an exported transit key')
    parser.add_argument('--recovery-key', metavar='FILE', help='opens what was sealed to it; no key server is asked')
    parser.add_argument('--transit-key', default='svc', help='at the key server; objects of another are refused')
    for name, default in [('--mount', 'transit'), ('--reserved-prefix', '.svc/'), ('--state-bucket', None)]:
        parser.add_argument(name, default=default)
    parser.add_argument('--encrypted-only', action='store_true', help='refuse objects without svc metadata')
    options = parser.parse_args()
    try:
        if options.recovery_key: keys = RecoveryKeys(options.recovery_key)
        elif options.keys: keys = ExportedKeys(options.keys)
        else: keys = KeyServer(options.mount, options.transit_key, os.environ)
        reader, refused = Reader(load(options.paths), keys, options), 0
        for (_, key), stored in reader.store.items():
            if key.startswith(options.reserved_prefix): continue
            try: write(place(options.to, stored), reader.plaintext(stored))
            except (Refused, OSError, ValueError) as error:  # the others: no file can have its name
                refused += 1
                print(f'{stored.bucket}/{key!r}: {error}', file=sys.stderr)
    except (Failed, Refused, KeyError, ValueError, OSError, RecursionError) as error:
        sys.exit(print(f'read.py: {type(error).__name__}: {error}', file=sys.stderr) or 2)
    sys.exit(1 if refused else 0)

if __name__ == '__main__': main()
