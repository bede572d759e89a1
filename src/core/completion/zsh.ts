import {
  below,
  type CompletionFlag,
  type CompletionNode,
  type CompletionTree,
  dashed,
  functionName,
  keyOf,
  nameOf,
} from './tree.ts';

/** A script for zsh 5, to be sourced after compinit or put as `_<bin>` into a folder of fpath. */
export function zshCompletion(tree: CompletionTree): string {
  const name = functionName(tree.bin);
  return `#compdef ${tree.bin}
# Completion of ${tree.bin} for zsh: source <(${tree.bin} completion zsh)

${name}() {
  local command='' word previous=\${words[CURRENT-1]} index
  local -a below flags values
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    if [[ $word == -- ]]; then
      shift $index words
      (( CURRENT -= index ))
      _normal
      return
    fi
    ${name}_below "$command"
    (( \${below[(I)\${(b)word}(|:*)]} )) && command=\${command:+$command }$word
  done
  ${name}_below "$command"
  ${name}_flags "$command"
  if [[ $PREFIX == --*=* ]]; then
    previous=\${PREFIX%%=*}
    compset -P '*='
  fi
  if ${name}_values "$command" "$previous"; then
    if [[ \${values[1]} == @file ]]; then
      _files
    else
      (( $#values )) && compadd -a values
    fi
  elif [[ $PREFIX == -* ]]; then
    _describe -o flag flags
  else
    _describe command below
  fi
}

${name}_below() {
  below=()
  case "$1" in
${cases(tree.nodes, (node) => [...below(tree, node).map(describeNode), ...node.choices], 'below')}
  esac
}

${name}_flags() {
  flags=()
  case "$1" in
${cases(tree.nodes, ({ flags }) => flags.flatMap(describeFlag), 'flags')}
  esac
}

${name}_values() {
  values=()
  case "$1 $2" in
${tree.nodes.flatMap(valueCases).join('\n')}
  *) return 1 ;;
  esac
}

if [[ \${funcstack[1]} == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${tree.bin}
fi
`;
}

function cases(
  nodes: readonly CompletionNode[],
  itemsOf: (node: CompletionNode) => readonly string[],
  array: string,
): string {
  return nodes
    .map((node) => ({ key: keyOf(node), items: itemsOf(node) }))
    .filter(({ items }) => items.length > 0)
    .map(({ key, items }) => `  '${key}') ${array}=(${items.map((item) => `'${item}'`).join(' ')}) ;;`)
    .join('\n');
}

/** The first colon of an item ends its name; others may stand in the text. */
const describeNode = (node: CompletionNode) => `${nameOf(node)}:${node.summary}`;

function describeFlag(flag: CompletionFlag): string[] {
  return dashed(flag).map((word) => `${word}:${flag.summary}`);
}

function valueCases(node: CompletionNode): string[] {
  return node.flags
    .filter(({ takesValue }) => takesValue)
    .map((flag) => {
      const patterns = dashed(flag).map((word) => `'${keyOf(node)} ${word}'`);
      return `  ${patterns.join(' | ')}) values=(${flag.isFile ? '@file' : flag.choices.join(' ')}) ;;`;
    });
}
