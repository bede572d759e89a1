import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { http } from '../../../support/http.ts';
import { type Loopback, listen } from '../../../support/loopback.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type Bed, startBed } from '../support/bed.ts';
import { checkPrefix, ordinaryUser } from '../support/confined.ts';

export const idle = true;

const test = suite('authorities that the application makes after the start');
let folder: TemporaryFolder;
let bed: Bed;
/** Between wrapper and secrets server; leads to the port that is set. */
let relay: Loopback;
let port: number;
/** Has a certificate of an authority that only the application trusts. */
let evil: Loopback;
let tried = 0;
let seen = '';

/** Gives the command a root like this one, but with an empty `/svc` that belongs to the ordinary user. */
const withOwnSvc = (root: string): readonly string[] => [
  ...['unshare', '--mount', '--propagation', 'private', 'sh', '-ec'],
  `mount -t tmpfs -o mode=755 none "$0"
   for entry in /*; do
     if [ -L "$entry" ]; then cp -d "$entry" "$0/"
     elif [ -d "$entry" ]; then mkdir "$0$entry"; mount --rbind "$entry" "$0$entry"
     fi
   done
   mkdir -p "$0/svc" "$0/former"; chown 65534 "$0/svc"
   cd "$0"; pivot_root . former; umount -l /former; cd /
   exec "$@"`,
  root,
];

const at = (name: string) => join(folder.path, name);

test.before(async () => {
  folder = temporaryFolder('own-authorities');
  chmodSync(folder.path, 0o755);
  mkdirSync(at('root'));
  checkPrefix([...withOwnSvc(at('root')), ...ordinaryUser]);
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
  copyFileSync(bed.bao.caFile as string, at('ca.pem'));
  const authority = createCertificateAuthority('of the application');
  writeFileSync(at('evil.crt'), authority.cert);
  for (const name of ['ca.pem', 'evil.crt']) chmodSync(at(name), 0o644);
  const impostor = createTlsServer(authority.issue({ commonName: 'bao' }), (socket) => {
    socket.on('data', (data) => (seen += data)).on('error', () => undefined);
  });
  evil = await listen(impostor.on('tlsClientError', () => tried++));
  relay = await listen(
    createServer((socket) => {
      const onward = connect(port, '127.0.0.1');
      for (const end of [socket, onward]) end.on('error', () => undefined);
      socket.pipe(onward).pipe(socket);
    }),
  );
});
test.after.each(() => bed?.endRuns());
test.after(async () => {
  await bed?.stop();
  await relay?.stop();
  await evil?.stop();
  await folder.remove();
});

for (const SVC_RESIDENT of [undefined, 'true'])
  test(`a server with their certificate gets nothing from a wrapper that ${SVC_RESIDENT ? 'stays' : 'leaves'}`, async () => {
    const bao = Number(new URL(bed.bao.url).port);
    [port, tried, seen] = [bao, 0, ''];
    const { token } = await bed.withToken();
    const plant = 'mkdir /svc/certs; cp "$0" /svc/certs; echo PLANTED; exec sleep 600';
    const run = await bed.run({
      vault: { addr: relay.url.replace('http:', 'https:'), token: token as string },
      under: [...withOwnSvc(at('root')), ...ordinaryUser],
      command: ['sh', '-ec', plant, at('evil.crt')],
      env: {
        ...{ NODE_EXTRA_CA_CERTS: at('ca.pem'), SVC_RESIDENT },
        ...{ RENEWAL_INTERVAL: '1s', SVC_REQUIRE_MLOCK: 'false' },
      },
    });
    await run.says(/^PLANTED$/m);
    port = evil.port;
    await waitFor('an attempt at the impostor', () => seen !== '' || tried > 0, { details: run.output });
    assert.is(seen, '');
    await run.event('secrets.keep.failed');
    port = bao;
    const healthy = async () => (await http(`${await run.health()}/healthz`)).json.status === 'ok';
    await waitFor('a pass by the authority of the start', healthy, { details: run.output });
    assert.equal(run.events('resident'), []);
  });

test.run();
