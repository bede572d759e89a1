import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What code looks like that takes in what others wrote, or makes something of it. */
const inTypeScript: Readonly<Record<string, RegExp>> = {
  JSON: /\bJSON\.parse\(|\bparseBounded\w*\(|\bboundedJson\(/,
  'JSON in place': /\bnew JsonView\(|\b(?:readDocument|readObject|readArray|visitMembers)\(/,
  XML: /\b(?:scanXml|scanDocument|scanEntries|parseXml|scanAnswer)(?:<\w+>)?\(|\bnew XML\w+\(/,
  YAML: /from 'yaml'|import\('yaml'\)/,
  pieces: /\bfor await \(|\.on\('data'|\bonread\b|\bcollect\(|\bnew CollectedBytes\(/,
  'one buffer of many': /\bBuffer\.concat\(/,
  files: /\b(?:readFile|readFileSync|readSync|createReadStream|readdirSync|readlinkSync)\(/,
  certificates: /\bnew X509Certificate\(|\bcreatePrivateKey\(|\bgetPeerX509Certificate\(/,
  protobuf: /\b(?:readFields|visitNested)\(|\b(?:request|response)Deserialize\b|\baddService\(/,
  HPACK: /\bdecodeHeaders\(|\bnew FrameReader\(/,
  base64: /\bBuffer\.from\([^()]*,\s*'base64(?:url)?'\)/,
  matches: /\.matchAll\(/,
  'BPF maps': /\b(?:openRingBuffer|takeRecords|visitEntries|mapEntries)\(/,
  descriptors: /\brecvmsg\b/,
};

const inGo: Readonly<Record<string, RegExp>> = {
  'shared memory': /\bunsafe\.|\bsyscall\.Mmap\b|\bbytes\.Index|\bmake\(map/,
};

const inC: Readonly<Record<string, RegExp>> = { reads: /\b(?:read|recv|recvmsg|readlink)\(/ };

const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const imports = /^import\b[^;]*;$/gm;

/** Names of the marks in a text. @param name of its file */
export function marksIn(name: string, text: string): readonly string[] {
  const marks = name.endsWith('.ts') ? inTypeScript : name.endsWith('.go') ? inGo : inC;
  const yaml = inTypeScript['YAML'] as RegExp;
  const code = text.replace(comments, '');
  const bare = code.replace(imports, (line) => (yaml.test(line) ? line : ''));
  return Object.entries(marks).flatMap(([mark, form]) => (form.test(bare) ? [mark] : []));
}

const folders: readonly (readonly [folder: string, files: RegExp])[] = [
  ['src', /\.ts$/],
  ['sdk/go', /^(?!.*_test\.go$)(?!cmd\/|internal\/).*\.go$/],
  ['init', /\.[ch]$/],
];

/** Files of the product with any mark, from the root of the repository. */
export function markedFiles(): readonly string[] {
  return folders.flatMap(([folder, wanted]) =>
    (readdirSync(root + folder, { recursive: true }) as string[])
      .filter((name) => wanted.test(name))
      .map((name) => `${folder}/${name}`)
      .filter((path) => marksIn(path, readFileSync(root + path, 'utf8')).length > 0)
      .sort(),
  );
}
