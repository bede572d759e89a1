import {
  below,
  type CompletionNode,
  type CompletionTree,
  dashed,
  functionName,
  keyOf,
  nameOf,
} from './tree.ts';

/** A script for bash 4 or later; it needs no other package and starts no program when a word is completed. */
export function bashCompletion(tree: CompletionTree): string {
  const name = functionName(tree.bin);
  return `# Completion of ${tree.bin} for bash: source <(${tree.bin} completion bash)

${name}_below() {
  case "$1" in
${cases(tree.nodes, (node) => [...below(tree, node).map(nameOf), ...node.choices])}
  esac
}

${name}_flags() {
  case "$1" in
${cases(tree.nodes, ({ flags }) => flags.flatMap(dashed))}
  esac
}

${name}_values() {
  case "$1 $2" in
${tree.nodes.flatMap(valueCases).join('\n')}
  *) return 1 ;;
  esac
}

${name}_fill() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' word index values
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == -- ]]; then
      [[ " ${runners(tree)} " == *"[$command]"* ]] && declare -F _command_offset >/dev/null && _command_offset $((index + 1)) && return
      compopt -o default
      return
    fi
    [[ $'\\n'$(${name}_below "$command")$'\\n' == *$'\\n'"$word"$'\\n'* ]] && command=\${command:+$command }$word
  done
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if values=$(${name}_values "$command" "$previous"); then
    [[ $values == @file ]] && compopt -o default && return
    ${name}_fill "$values" "$current"
  elif [[ $current == -* ]]; then
    ${name}_fill "$(${name}_flags "$command")" "$current"
  else
    ${name}_fill "$(${name}_below "$command")" "$current"
  fi
}

complete -F ${name} ${tree.bin}
`;
}

function cases(
  nodes: readonly CompletionNode[],
  wordsOf: (node: CompletionNode) => readonly string[],
): string {
  return nodes
    .map((node) => ({ key: keyOf(node), words: wordsOf(node) }))
    .filter(({ words }) => words.length > 0)
    .map(({ key, words }) => `  '${key}') printf '%s\\n' ${words.join(' ')} ;;`)
    .join('\n');
}

/** Nothing is offered after a flag whose values are free text. */
function valueCases(node: CompletionNode): string[] {
  return node.flags
    .filter(({ takesValue }) => takesValue)
    .map((flag) => {
      const patterns = dashed(flag).map((word) => `'${keyOf(node)} ${word}'`);
      const values = flag.isFile ? ['@file'] : flag.choices;
      const print = values.length === 0 ? ':' : `printf '%s\\n' ${values.join(' ')}`;
      return `  ${patterns.join(' | ')}) ${print} ;;`;
    });
}

function runners({ nodes }: CompletionTree): string {
  return nodes
    .filter(({ runsCommand }) => runsCommand)
    .map((node) => `[${keyOf(node)}]`)
    .join(' ');
}
