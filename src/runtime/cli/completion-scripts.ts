import {
  below,
  type CompletionFlag,
  type CompletionNode,
  type CompletionTree,
  dashed,
  functionName,
  keyOf,
  nameOf,
} from './completion-tree.ts';

/** A script for bash 4 or later; it needs no other package, and completing a word starts no program. */
export function bashCompletion(tree: CompletionTree): string {
  const name = functionName(tree.bin);
  return `# Completion of ${tree.bin} for bash: source <(${tree.bin} completion bash)

${name}_below() {
  case "$1" in
${cases(tree.nodes, (node) => [...below(tree, node).map(nameOf), ...node.choices], print)}
  esac
}

${name}_flags() {
  case "$1" in
${cases(tree.nodes, ({ flags }) => flags.flatMap(dashed), print)}
  esac
}

${name}_values() {
  case "$1 $2" in
${valueCases(tree.nodes, printValues)}
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

const print = (words: readonly string[]): string => `printf '%s\\n' ${words.join(' ')}`;

const printValues = (values: readonly string[]): string => (values.length === 0 ? ':' : print(values));

/** One branch of a `case` for each node with words. */
function cases(
  nodes: readonly CompletionNode[],
  wordsOf: (node: CompletionNode) => readonly string[],
  offer: (words: readonly string[]) => string,
): string {
  return nodes
    .map((node) => ({ key: keyOf(node), words: wordsOf(node) }))
    .filter(({ words }) => words.length > 0)
    .map(({ key, words }) => `  '${key}') ${offer(words)} ;;`)
    .join('\n');
}

/** One branch for each flag with a value. Free-text values get no suggestions. */
function valueCases(nodes: readonly CompletionNode[], offer: (values: readonly string[]) => string): string {
  return nodes
    .flatMap((node) =>
      node.flags
        .filter(({ takesValue }) => takesValue)
        .map((flag) => {
          const patterns = dashed(flag).map((word) => `'${keyOf(node)} ${word}'`);
          return `  ${patterns.join(' | ')}) ${offer(flag.isFile ? ['@file'] : flag.choices)} ;;`;
        }),
    )
    .join('\n');
}

function runners({ nodes }: CompletionTree): string {
  return nodes
    .filter(({ runsCommand }) => runsCommand)
    .map((node) => `[${keyOf(node)}]`)
    .join(' ');
}

/** A script for zsh 5, to be sourced after compinit, or saved as `_<bin>` in a folder of fpath. */
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
${cases(tree.nodes, (node) => [...below(tree, node).map(describeNode), ...node.choices], fill('below'))}
  esac
}

${name}_flags() {
  flags=()
  case "$1" in
${cases(tree.nodes, ({ flags }) => flags.flatMap(describeFlag), fill('flags'))}
  esac
}

${name}_values() {
  values=()
  case "$1 $2" in
${valueCases(tree.nodes, (values) => `values=(${values.join(' ')})`)}
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

const fill = (array: string) => (items: readonly string[]) =>
  `${array}=(${items.map((item) => `'${item}'`).join(' ')})`;

/** The first colon of an item ends its name; the description may contain more. */
const describeNode = (node: CompletionNode) => `${nameOf(node)}:${node.summary}`;

function describeFlag(flag: CompletionFlag): string[] {
  return dashed(flag).map((word) => `${word}:${flag.summary}`);
}

/** A script for fish 3. */
export function fishCompletion(tree: CompletionTree): string {
  const name = `_${functionName(tree.bin)}`;
  const at = (node: CompletionNode) => `-n '${name}_at "${keyOf(node)}"'`;
  return `# Completion of ${tree.bin} for fish: ${tree.bin} completion fish | source

function ${name}_at --description 'Whether the words typed so far call this command'
    set --local command
    for word in (commandline -opc)[2..]
        string match --quiet -- '--' $word; and return 1
        contains -- "$command $word" ${keys(tree)}; and set command "$command $word"
    end
    test "$command" = " $argv[1]" -o "$command$argv[1]" = ''
end

complete --command ${tree.bin} --erase
complete --command ${tree.bin} --no-files
complete --command ${tree.bin} -n 'contains -- -- (commandline -opc)' --force-files
${tree.nodes.flatMap((node) => lines(tree, node, at(node))).join('\n')}
`;
}

function keys({ nodes }: CompletionTree): string {
  return nodes
    .filter(({ words }) => words.length > 0)
    .map((node) => `" ${keyOf(node)}"`)
    .join(' ');
}

function lines(tree: CompletionTree, node: CompletionNode, condition: string): string[] {
  const start = `complete --command ${tree.bin} ${condition}`;
  const words = below(tree, node).map(
    (other) => `${start} --arguments ${nameOf(other)} --description '${other.summary}'`,
  );
  const choices = node.choices.map((choice) => `${start} --arguments ${choice}`);
  return [...words, ...choices, ...node.flags.map((flag) => `${start} ${flagOptions(flag)}`)];
}

function flagOptions({ name, char, summary, takesValue, choices, isFile }: CompletionFlag): string {
  return [
    `--long-option ${name}`,
    ...(char === undefined ? [] : [`--short-option ${char}`]),
    ...(takesValue ? [isFile ? '--require-parameter --force-files' : '--exclusive'] : []),
    ...(choices.length > 0 ? [`--arguments '${choices.join(' ')}'`] : []),
    `--description '${summary}'`,
  ].join(' ');
}
