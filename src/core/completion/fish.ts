import {
  below,
  type CompletionFlag,
  type CompletionNode,
  type CompletionTree,
  functionName,
  keyOf,
  nameOf,
} from './tree.ts';

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
