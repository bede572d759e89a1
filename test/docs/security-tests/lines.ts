/** What the threat model claims, one text a row: of its tables, and of the bold beginnings of what is not covered. */
export function linesOfModel(model: string): readonly string[] {
  const firstCells = ['What is to be protected', 'What becomes of a failure'].flatMap((title) =>
    rowsIn(sectionOf(model, title)).map(([first = '']) => first),
  );
  let who = '';
  const kept = rowsIn(sectionOf(model, 'Who is kept from what')).map(([first = '', what = '']) => {
    who = first || who;
    return `${who}: ${what}`;
  });
  return [...firstCells, ...kept, ...boldIn(sectionOf(model, 'What is not covered'))].map(plain);
}

/** Lines that a page of tests owns up to have no test. */
export const untested = (page: string): readonly string[] => boldIn(sectionOf(page, 'Not tested')).map(plain);

/** The text below a heading, up to the next one. @throws Error where there is no such heading */
export function sectionOf(page: string, title: string): string {
  const [, text] = page.split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`there is no heading ${title}`);
  return text.split('\n## ')[0] ?? '';
}

/** Cells of the tables in a text, without their heads. */
function rowsIn(text: string): readonly (readonly string[])[] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<= )\|(?= )/)
      .map((cell) => cell.trim()),
  );
}

const boldIn = (text: string): readonly string[] =>
  [...text.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, head = '']) => head.replace(/\.$/, ''));

/** Without emphasis and targets of links. */
const plain = (text: string): string => text.replace(/\*\*/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
