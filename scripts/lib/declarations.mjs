import { join, relative } from 'node:path';
import ts from 'typescript';

/** What plugins compile against; committed, so that a change of the public interface shows up in review. */
export const DECLARATIONS = 'types/plugin.d.ts';
const ENTRY = 'src/plugin-api/index.ts';

const HEADER = `// The public interface of svc for plugins, generated from ${ENTRY} by \`npm run build -- --update\`: do not edit.
`;

/** Everything that the entry exports, with what it refers to, as one file of declarations. Throws on types that are wrong. */
export function renderDeclarations(root) {
  const files = openSources(root);
  const surface = readSurface(files, join(root, ENTRY));
  const reached = reach(files, surface.names);
  const hidden = reached.filter((one) => !surface.names.includes(one));
  return [
    HEADER,
    ...externalImports(reached),
    '',
    ...surface.namespaces,
    '',
    ...surface.names.map((one) =>
      one.text.replace(/^(\s*(?:\/\*\*[\s\S]*?\*\/\s*)?)(?=declare|interface|type)/, '$1export '),
    ),
    ...hidden.map((one) => one.text),
    'export {};',
    '',
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** By absolute path of the source: what it declares and imports, read from tsc's declarations when it is asked for. */
function openSources(root) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const written = { noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: '/declarations' };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, ...written }, root);
  const program = ts.createProgram([join(root, ENTRY)], options);
  const files = new Map();
  return {
    has: (path) => path.startsWith(root),
    get(path) {
      if (!files.has(path))
        files.set(path, describeFile(path, emitDeclarations(program, path, options), root));
      return files.get(path);
    },
  };
}

function emitDeclarations(program, path, options) {
  let parsed;
  const { diagnostics } = program.emit(program.getSourceFile(path), (name, text) => {
    parsed = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  });
  if (diagnostics.length > 0)
    throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
  return parsed;
}

function describeFile(path, parsed, root) {
  const file = { path: relative(root, path), declared: new Map(), imported: new Map(), exported: [] };
  for (const statement of parsed.statements) {
    if (ts.isImportDeclaration(statement)) noteImport(file, path, statement);
    else if (ts.isExportDeclaration(statement)) noteExport(file, path, statement);
    else for (const name of namesOf(statement)) declare(file, name, statement);
  }
  return file;
}

function noteImport({ imported }, path, { importClause, moduleSpecifier }) {
  const bindings = importClause?.namedBindings;
  for (const { name, propertyName } of bindings && ts.isNamedImports(bindings) ? bindings.elements : []) {
    imported.set(name.text, { from: target(path, moduleSpecifier.text), name: (propertyName ?? name).text });
  }
}

function noteExport(file, path, statement) {
  const { exportClause, moduleSpecifier } = statement;
  if (exportClause === undefined || moduleSpecifier === undefined) return;
  if (ts.isNamespaceExport(exportClause)) file.exported.push({ namespace: statement.getText() });
  else
    for (const { name, propertyName } of exportClause.elements) {
      if (propertyName) throw new Error(`${file.path}: ${name.text} is exported under another name`);
      file.exported.push({ from: target(path, moduleSpecifier.text), name: name.text });
    }
}

/** Several statements may have one name: overloads, or a value and its type. */
function declare(file, name, statement) {
  const { declared } = file;
  const text = statement
    .getFullText()
    .trim()
    .replace(/^((?:\/\*\*[\s\S]*?\*\/\s*)?)export /, '$1');
  const known = declared.get(name);
  const statements = [...(known?.statements ?? []), statement];
  declared.set(name, { name, file, statements, text: known ? `${known.text}\n${text}` : text });
}

function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.text);
  return statement.name ? [statement.name.text] : [];
}

/** A module of this package by its path, another by its name. */
function target(path, specifier) {
  return specifier.startsWith('.') ? join(path, '..', specifier) : specifier;
}

function readSurface(files, entry) {
  const { exported } = files.get(entry);
  return {
    namespaces: exported.flatMap(({ namespace }) => namespace ?? []),
    names: exported.filter(({ name }) => name).map(({ from, name }) => lookUp(files, from, name)),
  };
}

function find(files, file, name) {
  const own = file.declared.get(name);
  if (own) return own;
  const imported = file.imported.get(name);
  if (imported === undefined) return undefined;
  return files.has(imported.from)
    ? lookUp(files, imported.from, imported.name)
    : { external: imported, name };
}

function lookUp(files, from, name) {
  const file = files.get(from);
  const found =
    file?.declared.get(name) ??
    file?.exported.map((one) => one.name === name && lookUp(files, one.from, name)).find(Boolean);
  if (!found) throw new Error(`${name} is not declared in ${from}`);
  return found;
}

/** The declarations and all that they refer to, in the order in which they are met. Throws where two have the same name. */
function reach(files, start) {
  const reached = [];
  const byName = new Map();
  const visit = (one) => {
    const same = byName.get(one.name);
    if (same && same !== one && !one.external)
      throw new Error(`${one.name} is declared in ${same.file.path} and in ${one.file.path}`);
    if (same) return;
    byName.set(one.name, one);
    reached.push(one);
    for (const statement of one.statements ?? [])
      mentioned(statement, (name) => {
        const other = find(files, one.file, name);
        if (other) visit(other);
      });
  };
  for (const one of start) visit(one);
  return reached;
}

function mentioned(node, tell) {
  if (ts.isImportTypeNode(node) && /^["']\./.test(node.argument.getText()))
    throw new Error(`${node.getSourceFile().fileName}: give ${node.getText()} a name by an annotation`);
  if (ts.isIdentifier(node)) tell(node.text);
  ts.forEachChild(node, (child) => mentioned(child, tell));
}

function externalImports(reached) {
  const externals = reached.filter(({ external }) => external);
  const modules = [...new Set(externals.map(({ external }) => external.from))].sort();
  return modules.map((module) => {
    const names = externals
      .filter(({ external }) => external.from === module)
      .map(({ external, name }) => (external.name === name ? name : `${external.name} as ${name}`));
    return `import type { ${names.sort().join(', ')} } from '${module}';`;
  });
}
