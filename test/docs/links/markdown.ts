/** Targets of links to other pages and places of the repository, without those to the web. */
export function linksIn(page: string): readonly string[] {
  const prose = withoutBlocks(page).replace(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)/g)];
  const defined = [...prose.matchAll(/^\[[^\]\n]+\]: *(\S+)/gm)];
  return [...inline, ...defined]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The names that GitHub gives to headings: the second of the same text gets `-1`. */
export function anchorsIn(page: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(page).matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)].map(([, heading = '']) => {
    const name = anchorOf(heading);
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
}

/** Of the text that is shown: of a link that is what stands between the brackets. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^()]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** What stands in a block of code is neither link nor heading. */
const withoutBlocks = (page: string): string =>
  page.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\2 *$/gm, '');
