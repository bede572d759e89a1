"""Runs docs/format/read.py for each list of arguments in the JSON on standard input, each in a process of its own that
begins where the imports have ended: most of the time of a run goes into those. Writes [{status, stderr}, …]."""
import importlib.util, json, os, sys

spec = importlib.util.spec_from_file_location('read', sys.argv[1])
read = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read)
try: from cryptography.hazmat.primitives import hpke  # which read.py imports for recovery keys alone
except ImportError: pass

def run(args):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(into, 2)
        os.close(into)
        sys.argv[1:] = args
        read.main()  # ends the process
    os.close(into)
    with open(out, encoding='utf-8') as pipe: stderr = pipe.read()
    return {'status': os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 'stderr': stderr}

runs = json.load(sys.stdin)
json.dump([run(args) for args in runs], sys.stdout)
