#!/usr/bin/env python3
"""Reads objects that `svc run proxy` has encrypted, without any code of svc: written from docs/FORMAT.md alone.
  read.py PATH… --to DIR [--keys transit-key.json… | --recovery-key FILE]
PATH is a JSON file of stored objects, or a folder in which such files lie ("Stored objects as files" in FORMAT.md). Keys
are unwrapped by the key server at VAULT_ADDR with VAULT_TOKEN, by exported transit keys, or opened by recovery keys. Needs
Python 3.9 and the package `cryptography`, for recovery keys one that has HPKE. Ends with 0: all were read; 1: some were
refused; 2: called wrongly, or the key server failed."""
import argparse, base64, hashlib, hmac, itertools, json, os, re, sys, tempfile, zlib
import urllib.error, urllib.parse, urllib.request
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE, TAG, OVERHEAD, SEGMENT, MALFORMED = 12, 16, 28, 65536, 'malformed-metadata'
WRAPPED = re.compile(r'vault:v([1-9][0-9]{0,9}):[A-Za-z0-9+/]+={0,2}')
ID, SALT = re.compile(r'[A-Za-z0-9_-]{22}'), re.compile(r'[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]')
MOST_PARTS, LONGEST_HELPER = 10_000, 8 * 1024 * 1024
REQUIRED = ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version']
KNOWN = REQUIRED + ['binding', 'empty-seal', 'checksum', 'derivation', 'recovery']
FORMATS = {'AES-256-GCM': 1, 'AES-256-GCM-STREAM-64KiB': 2}
CHECKSUM = re.compile(r'([a-z0-9]{1,20})\.(?:full|composite)(?:\.([A-Za-z0-9_-]{1,200}))?')
RECOVERY, PART_RECOVERY = re.compile(r'[\w-]{107}(\.[\w-]{107}){0,7}', re.ASCII), re.compile(r'[A-Za-z0-9_-]{80}')
SUM, COMPOSITE = re.compile(r'[A-Za-z0-9_-]{1,200}'), 0x80
ALGORITHMS = 'crc32 crc32c crc64nvme sha1 sha256 sha512 md5 xxhash64 xxhash3 xxhash128'.split()

class Refused(Exception):  # The object is not what svc wrote: one of the reasons in FORMAT.md, and what is wrong
    def __init__(self, reason, detail): super().__init__(f'{reason}: {detail}')

class Failed(Exception): """Nothing can be said about any object."""

def expect(holds, reason, detail):
    if not holds: raise Refused(reason, detail)
def json_text(value): return json.dumps(value, ensure_ascii=False, separators=(',', ':'))
def is_whole(value, least, most): return type(value) is int and least <= value <= most
def from_base64url(text): return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
def stored_size(format, size): return size + (TAG * -(-size // SEGMENT) if format == 2 else OVERHEAD)
def matches(pattern, value): return isinstance(value, str) and pattern.fullmatch(value)
def is_wrapped(value): return matches(WRAPPED, value) and len(value) < 1024
def from_json(text, what):
    try: return json.loads(text)
    except (ValueError, RecursionError): raise Refused(MALFORMED, f'{what} is not JSON')
def from_base64(text, length, reason=MALFORMED):
    try: data = base64.b64decode(text if isinstance(text, str) else '*', validate=True)
    except ValueError: raise Refused(reason, 'no base64')
    expect(len(data) == length, reason, f'{len(data)} bytes where {length} belong')
    return data
def is_list_head(value, format):  # What part lists and pointers have in common
    return (isinstance(value, dict) and is_whole(value.get('v'), format, format) and is_wrapped(value.get('seal'))
            and matches(ID, value.get('manifest')))
def opened(dek, nonce, sealed, associated=None, reason='authentication-failed'):
    try: return AESGCM(dek).decrypt(nonce, sealed, associated)
    except (InvalidTag, ValueError): raise Refused(reason, 'a tag does not verify')
def derived(dek, salt, info):  # HKDF-SHA-512, 32 bytes
    return hmac.digest(hmac.digest(salt, dek, 'sha512'), info.encode() + b'\x01', 'sha512')[:32]

def segments(stored, start, dek, salt, part, size):  # Yields the plaintext of a body of format 2
    key = derived(dek, salt, f'svc/2/key\n{part}\n')
    for index in range(-(-size // SEGMENT)):
        length = min(SEGMENT, size - index * SEGMENT)
        nonce = index.to_bytes(11, 'big') + bytes([index * SEGMENT + length == size])
        data = stored.read(start + index * (SEGMENT + TAG), length + TAG)
        yield opened(key, nonce, data, b'svc/2\n' + part.to_bytes(2, 'big') + index.to_bytes(8, 'big'))

class Crc32:
    def __init__(self, data=b''): self.value = zlib.crc32(data)
    def update(self, data): self.value = zlib.crc32(data, self.value)
    def digest(self): return self.value.to_bytes(4, 'big')
HASHES = {1: Crc32, 4: hashlib.sha1, 5: hashlib.sha256, 6: hashlib.sha512, 7: hashlib.md5}

def compared(pieces, key, bound_to, sealed):
    """Passes the plaintext of each body on; raises Refused at the end of those that have not the checksum kept."""
    if sealed is None: return (yield from pieces)
    purpose = b'svc/whole-checksum/1'
    try:
        data, context = from_base64url(sealed), purpose + f'\n{bound_to}\n'.encode()
        plain = AESGCM(hmac.digest(key, purpose + b'\x01', 'sha256')).decrypt(data[:NONCE], data[NONCE:], context)
    except (InvalidTag, ValueError): raise Refused('record-forged', 'the checksum that is kept with the object')
    number, digest = (plain or b'\0')[0], plain[1:]
    create = HASHES.get(number & ~COMPOSITE)
    if create is None: return (yield from pieces)  # none that the standard library of Python can calculate
    running = create()
    for piece in pieces:
        running.update(create(piece).digest() if number & COMPOSITE else piece)
        yield piece
    if running.digest() != digest: raise Refused('wrong-checksum', 'the plaintext has another checksum')

class ExportedKeys:  # Transit keys in the clear, as GET transit/export/encryption-key/<name> gives them
    def __init__(self, paths):
        self.keys = {}
        for path in paths:
            with open(path, encoding='utf-8') as file: data = json.load(file)['data']
            if data.get('type') != 'aes256-gcm96': raise Failed(f'{path}: not a key of type aes256-gcm96')
            self.keys[data['name']] = {int(n): base64.b64decode(key) for n, key in data['keys'].items()}
    def unwrap(self, key_name, wrapped, binding):
        if key_name not in self.keys: raise Refused('foreign-key', f'transit key {key_name!r} is not at hand')
        _, version, payload = wrapped.split(':')
        key = self.keys[key_name].get(int(version[1:]))
        try:
            data = base64.b64decode(payload, validate=True)
            if key is None or len(data) < OVERHEAD: raise InvalidTag
            return AESGCM(key).decrypt(data[:NONCE], data[NONCE:], binding and binding.encode())
        except (InvalidTag, ValueError): raise Refused('key-refused', f'not by {version} of {key_name}, or not for this')

class KeyServer:  # Transit of OpenBao or Vault
    def __init__(self, address, token, mount, key_name, namespace):
        self.key_name = key_name
        self.url = f'{address.rstrip("/")}/v1/{mount}/decrypt/{urllib.parse.quote(key_name, safe="")}'
        self.headers = {'X-Vault-Token': token, 'Content-Type': 'application/json', 'X-Vault-Namespace': namespace or ''}
    def unwrap(self, key_name, wrapped, binding):
        if key_name != self.key_name: raise Refused('foreign-key', f'transit key {key_name!r} is not used')
        body = {'ciphertext': wrapped}
        if binding is not None: body['associated_data'] = base64.b64encode(binding.encode()).decode()
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer: data = json.load(answer)['data']
            return base64.b64decode(data['plaintext'])
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors='replace').strip()
            raise Refused('key-refused', said) if error.code == 400 else Failed(f'the key server: {error.code} {said}')
        except (OSError, ValueError, KeyError) as error: raise Failed(f'the key server: {error}')

class RecoveryKeys:  # X25519 keys of a file as age writes them: AGE-SECRET-KEY-1…, one a line
    def __init__(self, path):
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
        self.suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
        with open(path, encoding='ascii') as file: lines = [line.strip().lower() for line in file]
        self.keys = [X25519PrivateKey.from_private_bytes(raw_key(line)) for line in lines if line and line[0] != '#']
    def open(self, blobs, binding):
        expect(blobs, 'not-recoverable', 'not sealed to recovery keys')
        for blob, key in itertools.product(blobs.split('.'), self.keys):
            try: return self.suite.decrypt(from_base64url(blob), key, b'svc/recovery/1\n' + binding.encode())
            except (InvalidTag, ValueError): pass  # for another recipient
        raise Refused('not-recoverable', 'none of the keys opens it')
    def open_part(self, seal_key, upload, part):
        expect('recovery' in part, 'not-recoverable', 'a part is not sealed to recovery keys')
        data, label = from_base64url(part['recovery']), b'svc/recovery-part/1'
        key = hmac.digest(seal_key, label + b'\x01', 'sha256')
        return opened(key, data[:NONCE], data[NONCE:], label + f'\n{upload} {part["n"]}\n'.encode(), 'not-recoverable')
def raw_key(line):  # Bech32 of 52 characters and 6 of a checksum, which is not looked at: a wrong key opens nothing
    if not re.fullmatch('age-secret-key-1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}', line): raise Failed('no age identity')
    bits = ''.join(f'{"qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(letter):05b}' for letter in line[16:68])
    return int(bits[:256], 2).to_bytes(32, 'big')

class Stored:  # One stored object; its body is read as it is needed
    def __init__(self, value, folder):
        self.bucket, self.key, self.headers = value['bucket'], value['key'], {}
        for name, text in value.get('metadata', {}).items():
            name = name.lower().removeprefix('x-amz-meta-')
            self.headers[name] = None if name in self.headers else text  # twice: no text
        self.path = os.path.join(folder, value['file']) if 'file' in value else None
        self.bytes = None if self.path else base64.b64decode(value['body'])
        self.size = os.path.getsize(self.path) if self.path else len(self.bytes)
    def read(self, offset, length):
        if not self.path: return self.bytes[offset:offset + length]
        with open(self.path, 'rb') as file:
            file.seek(offset)
            return file.read(length)

def load(paths):
    for path in paths:
        found = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names] or [path]
        for file in sorted(name for name in found if name.endswith('.json')):
            with open(file, encoding='utf-8') as opened: value = json.load(opened)
            yield from (Stored(one, os.path.dirname(file)) for one in value.get('objects', [value]))

class Reader:
    def __init__(self, store, keys, options):
        self.store = {(stored.bucket, stored.key): stored for stored in store}
        self.keys, self.options = keys, options
    def plaintext(self, stored):  # Yields the plaintext, each piece after its tag has verified. Raises Refused
        headers = {name: stored.headers[f'svc-{name}'] for name in KNOWN if f'svc-{name}' in stored.headers}
        if not headers and self.options.encrypted_only: raise Refused('unencrypted', 'no svc metadata')
        if not headers: return (yield stored.read(0, stored.size))
        missing = [name for name in REQUIRED if not isinstance(headers.get(name), str)]
        expect(not missing, 'partial-metadata', f'{", ".join(missing)} missing')
        expect(headers['encrypted'] == 'true' and headers['algorithm'] in FORMATS, MALFORMED, 'encrypted or algorithm')
        form, keys = self.wrapped_keys(headers['wrapped-dek'], format := FORMATS[headers['algorithm']])
        version = WRAPPED.fullmatch(keys if form == 'single' else keys['seal']).group(1)
        expect(headers['key-version'] == version, MALFORMED, 'key-version')
        names = {'key': [None, stored.key], 'bucket-key': [stored.bucket, stored.key], 'none': [None, None]}
        binding = headers.get('binding', 'none')
        expect('binding' not in headers or binding in ('key', 'bucket-key'), MALFORMED, 'binding')
        bound_to = ['svc', format, *names[binding]] if binding != 'none' or format == 2 else None
        expect('recovery' not in headers or matches(RECOVERY, headers['recovery']), MALFORMED, 'recovery')
        unwrap = lambda wrapped, *purpose: self.unwrap(stored, headers, wrapped, bound_to, purpose)
        seal = from_base64(headers['empty-seal'], OVERHEAD) if 'empty-seal' in headers else None
        expect(not seal or (form, format) == ('single', 1), MALFORMED, 'empty-seal')
        proof = self.derivation(headers, format == 2 and form == 'single')
        expect(not seal or stored.size == 0, 'wrong-size', 'a body beside an empty-seal')
        sealed = self.kept_checksum(headers['checksum'], form) if 'checksum' in headers else None
        if proof: return (yield from self.committed(stored, proof, lambda: unwrap(keys, 'object'), sealed))
        if form == 'single':
            expect(seal or stored.size >= OVERHEAD, 'wrong-size', 'shorter than nonce and tag')
            dek = unwrap(keys, 'object')
            body = seal or stored.read(0, stored.size)
            plain = opened(dek, body[:NONCE], body[NONCE:])
            return (yield from compared([plain], dek, len(plain), sealed))
        yield from self.parts(stored, self.manifest(stored, keys, format) if form == 'pointer' else keys, unwrap)
    def kept_checksum(self, text, form):
        kept = matches(CHECKSUM, text)
        if kept and kept[1] not in ALGORITHMS: return None
        expect(kept and (kept[2] is None) != (form == 'single'), MALFORMED, 'checksum')
        return kept[2]
    def derivation(self, headers, needed):
        if 'derivation' not in headers and not needed: return None
        expect('derivation' in headers, 'partial-metadata', 'derivation missing')
        proof = (headers['derivation'] or '').split('.')
        expect(needed and len(proof) == 2 and all(map(SALT.fullmatch, proof)), MALFORMED, 'derivation')
        return [from_base64url(half) for half in proof]
    def committed(self, stored, proof, unwrap, sealed):  # A body of format 2 in one piece
        size = stored.size - TAG * -(-stored.size // (SEGMENT + TAG))
        expect(stored_size(2, size) == stored.size, 'wrong-size', 'no body has this length')
        dek, (salt, told) = unwrap(), proof
        commitment = derived(dek, salt, f'svc/2/commitment\n0\n{size}\n')
        expect(hmac.compare_digest(commitment, told), 'wrong-commitment', 'not written under this key with this length')
        yield from compared(segments(stored, 0, dek, salt, 0, size), dek, size, sealed)
    def wrapped_keys(self, text, format):
        if WRAPPED.fullmatch(text): return 'single', text
        value = from_json(text, 'wrapped-dek')
        if isinstance(value, dict) and 'parts' in value: return 'inline', self.part_list(value, format)
        expect(is_list_head(value, format), MALFORMED, 'wrapped-dek')
        return 'pointer', value
    def part_list(self, value, format):
        expect(is_list_head(value, format) and isinstance(value.get('mac'), str) and matches(SUM, value.get('sum', '-'))
               and isinstance(value.get('parts'), list) and 1 <= len(value['parts']) <= MOST_PARTS, MALFORMED, 'part list')
        previous = 0
        for part in value['parts']:
            expect(isinstance(part, dict) and is_whole(part.get('n'), previous + 1, MOST_PARTS)
                   and is_whole(part.get('size'), 0, 2 ** 53 - 1)
                   and (matches(SALT, part.get('salt')) if format == 2 else is_wrapped(part.get('dek'))), MALFORMED, 'part')
            if format == 1: from_base64(part.get('nonce'), NONCE)
            expect(format == 2 or 'recovery' not in part or matches(PART_RECOVERY, part['recovery']), MALFORMED, 'part')
            previous = part['n']
        return value
    def manifest(self, stored, pointer, format):
        found = self.helper(stored, 'manifests', pointer['manifest'])
        expect(found, 'manifest-missing', pointer['manifest'])
        value = from_json(found.read(0, found.size), 'the manifest')
        expect(isinstance(value, dict) and is_whole(value.get('v'), 1, 1), MALFORMED, 'the manifest')
        parts = self.part_list(value.get('list'), format)
        named = [value.get('bucket'), value.get('key')]
        expect(named == [stored.bucket, stored.key], 'manifest-forged', 'of another object')
        expect(all(parts[name] == pointer[name] for name in ('manifest', 'seal')), 'manifest-forged', 'of another upload')
        return parts
    def unwrap(self, stored, headers, wrapped, bound_to, purpose):
        binding = json_text([*(bound_to or []), *purpose])
        if isinstance(self.keys, RecoveryKeys): return self.keys.open(headers.get('recovery'), binding)
        binding = bound_to and binding
        try: key = self.keys.unwrap(headers['key-name'], wrapped, binding)
        except Refused:
            record = self.record(stored, purpose[1] if purpose[1:] else hashlib.sha256(wrapped.encode()).hexdigest())
            if not record: raise
            slot = str(purpose[-1]) if purpose[0] == 'part' else purpose[0]
            key = self.keys.unwrap(record['keyName'], record['keys'].get(slot, wrapped), binding)
        expect(len(key) == 32, MALFORMED, 'a key is not 32 bytes long')
        return key
    def record(self, stored, id):  # Of keys that were wrapped again, where there is one
        if not (found := self.helper(stored, 'rewraps', id)): return None
        value = from_json(found.read(0, found.size), 'the record')
        expect(isinstance(value, dict) and is_whole(value.get('v'), 1, 1) and isinstance(value.get('keys'), dict)
               and all(isinstance(value.get(name), str) for name in ('bucket', 'key', 'keyName'))
               and all(map(is_wrapped, value['keys'].values())), MALFORMED, 'the record')
        expect([value['bucket'], value['key']] == [stored.bucket, stored.key], 'record-forged', 'of another object')
        return value
    def helper(self, stored, kind, id):
        name = hashlib.sha256(json_text([stored.bucket, stored.key]).encode()).hexdigest()
        key = f'{self.options.reserved_prefix}{kind}/{name}/{id}'
        found = self.store.get((self.options.state_bucket or stored.bucket, key))
        expect(not found or found.size <= LONGEST_HELPER, MALFORMED, f'too long, in {kind}')
        return found
    def parts(self, stored, value, unwrap):
        format, upload, parts = value['v'], value['manifest'], value['parts']
        expect(sum(stored_size(format, part['size']) for part in parts) == stored.size, 'wrong-size', 'not as the list says')
        fields = ['n', 'size', 'salt'] if format == 2 else ['n', 'size', 'nonce', 'dek']
        lines = [f'svc/{format}', upload, str(len(parts)), *(' '.join(str(part[f]) for f in fields) for part in parts), '']
        key = unwrap(value['seal'], 'seal', upload)
        seal_key = derived(key, upload.encode(), 'svc/2/seal\n') if format == 2 else key
        mac = hmac.digest(seal_key, '\n'.join(lines).encode(), 'sha256')
        told = from_base64(value['mac'], len(mac), 'manifest-forged')
        expect(hmac.compare_digest(mac, told), 'manifest-forged', 'the seal of the part list')
        yield from compared(self.bodies(stored, value, key, unwrap), seal_key, value['mac'], value.get('sum'))
    def bodies(self, stored, value, key, unwrap):
        offset = 0
        for part in value['parts']:
            n, size, length = part['n'], part['size'], stored_size(value['v'], part['size'])
            if value['v'] == 2: yield b''.join(segments(stored, offset, key, from_base64url(part['salt']), n, size))
            else:
                body = stored.read(offset, length)
                expect(body[:NONCE] == base64.b64decode(part['nonce']), 'authentication-failed', 'a part with another nonce')
                if isinstance(self.keys, RecoveryKeys): dek = self.keys.open_part(key, value['manifest'], part)
                else: dek = unwrap(part['dek'], 'part', value['manifest'], n)
                yield opened(dek, body[:NONCE], body[NONCE:])
            offset += length

def place(folder, stored):
    """Where the plaintext goes: each segment of the names as a plain file name, so that nothing leads out of the folder."""
    safe = " !#$&'()+,;=@[]{}~^`-_."
    names = [urllib.parse.quote(name, safe=safe) for name in [stored.bucket, *stored.key.split('/')]]
    for index, name in enumerate(names):
        if name.strip('.') == '': names[index] = name.replace('.', '%2E') or '%'
        if len(name) > 255: names[index] = '%sha256-' + hashlib.sha256(name.encode()).hexdigest()
    return os.path.join(folder, *names)
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
    parser.add_argument('--keys', action='append', default=[], metavar='FILE', help='an exported transit key')
    parser.add_argument('--recovery-key', metavar='FILE', help='opens what was sealed to it; no key server is asked')
    parser.add_argument('--transit-key', default='svc', help='at the key server; objects of another are refused')
    for name, default in [('--mount', 'transit'), ('--reserved-prefix', '.svc/'), ('--state-bucket', None)]:
        parser.add_argument(name, default=default)
    parser.add_argument('--encrypted-only', action='store_true', help='refuse objects without svc metadata')
    options, env = parser.parse_args(), os.environ
    try:
        keys = RecoveryKeys(options.recovery_key) if options.recovery_key else ExportedKeys(
            options.keys) if options.keys else KeyServer(
            env['VAULT_ADDR'], env['VAULT_TOKEN'], options.mount, options.transit_key, env.get('VAULT_NAMESPACE'))
        reader, refused = Reader(load(options.paths), keys, options), 0
        for (_, key), stored in reader.store.items():
            if key.startswith(options.reserved_prefix): continue
            try: write(place(options.to, stored), reader.plaintext(stored))
            except (Refused, OSError, ValueError) as error:  # the others: no file can have its name
                refused += 1
                print(f'{stored.bucket}/{key!r}: {error}', file=sys.stderr)
    except (Failed, KeyError, ValueError, OSError) as error:
        sys.exit(print(f'read.py: {type(error).__name__}: {error}', file=sys.stderr) or 2)
    sys.exit(1 if refused else 0)

if __name__ == '__main__': main()
