/** A table as the formatter of this repository leaves it: cells are as wide as the widest of their column. */
export function markdownTable(headers: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headers.map((header, column) =>
    Math.max(3, header.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  return [
    line(headers),
    line(
      headers.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ];
}
