/** Text between `<!-- name: … -->` and `<!-- end of name -->` of a page, by name. */
export type Regions = Readonly<Record<string, readonly string[]>>;

/** The page with each of its regions filled anew. @throws Error where the page and the regions differ in names */
export function withRegions(page: string, regions: Regions): string {
  const open = new Set(Object.keys(regions));
  const filled = page.replace(
    /(<!-- ([a-z-]+): [^\n]* -->\n)[\s\S]*?(<!-- end of \2 -->)/g,
    (_, begin: string, name: string, end: string) => {
      if (!open.delete(name))
        throw new Error(`the page has a region ${name} that nobody fills, or has it twice`);
      return `${begin}\n${(regions[name] ?? []).join('\n')}\n\n${end}`;
    },
  );
  if (open.size > 0) throw new Error(`the page has no region ${[...open].join(', ')}`);
  return filled;
}
